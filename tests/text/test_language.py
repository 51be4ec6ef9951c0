"""Questions in other languages are seen, and English ones are not taken for such."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.data.dataset import load_dataset
from riseq.metrics.behaviour import load_cases
from riseq.text.lexicon import is_foreign
from riseq.text.pieces import load_bert_pieces

ENGLISH = ("Who wrote Hamlet?", "William Shakespeare did, around 1600, for the Globe.")
FOREIGN = """
es ¿Cuándo nació Frida Kahlo?
es ¿Cuántos habitantes tiene la ciudad de Madrid?
es quien dirigió la película Roma
es ¿Por qué es tan caro el aguacate en invierno?
es Dime más sobre los efectos secundarios del ibuprofeno.
es ¿Se puede cancelar el pedido sin pagar nada?
fr Quand est sorti le film Amélie ?
fr Combien d'habitants y a-t-il à Lyon ?
fr Qui a écrit Les Misérables ?
fr Est-ce que je peux annuler ma commande sans frais ?
fr pourquoi le ciel est bleu
fr Parle-moi des effets secondaires du paracétamol.
de Wann wurde der Eiffelturm gebaut?
de Was ist die Hauptstadt von Australien?
de Wie viele Einwohner hat Hamburg?
de Kann ich meine Bestellung noch stornieren?
de wer hat den film Metropolis gedreht
de Warum ist der Himmel blau?
it Quando è nato Leonardo da Vinci?
it Quanti abitanti ha la città di Torino?
it Chi ha diretto il film La vita è bella?
it Posso annullare il mio ordine senza pagare?
it perché il cielo è blu
it Dove si trova il Colosseo?
pt Quando nasceu Fernando Pessoa?
pt Quantos habitantes tem a cidade do Porto?
pt Quem escreveu Os Lusíadas?
pt Posso cancelar o meu pedido sem pagar?
pt por que o céu é azul
nl Wanneer werd Vincent van Gogh geboren?
nl Hoeveel inwoners heeft Rotterdam?
nl Wat is de hoofdstad van Nederland?
nl Kan ik mijn bestelling nog annuleren?
nl waarom is de lucht blauw
pl Kiedy urodził się Fryderyk Chopin?
pl Ile osób mieszka w Krakowie?
pl Kto napisał Pana Tadeusza?
pl Czy mogę anulować moje zamówienie?
pl dlaczego niebo jest niebieskie
tr Atatürk ne zaman doğdu?
tr İstanbul'da kaç kişi yaşıyor?
tr Bu filmi kim yönetti?
tr Siparişimi nasıl iptal edebilirim?
tr gökyüzü neden mavi
id Kapan Soekarno lahir?
id Berapa jumlah penduduk kota Jakarta?
id Siapa yang menulis Laskar Pelangi?
id Apakah saya bisa membatalkan pesanan saya?
id mengapa langit berwarna biru
sv När föddes Astrid Lindgren?
sv Hur många bor i Göteborg?
sv Vem regisserade filmen Det sjunde inseglet?
sv Kan jag avboka min beställning?
sv varför är himlen blå
fi Milloin Jean Sibelius syntyi?
fi Kuinka monta asukasta Tampereella on?
fi Kuka kirjoitti Kalevalan?
fi Voinko peruuttaa tilaukseni?
fi miksi taivas on sininen
vi Hồ Chí Minh sinh năm nào?
vi Hà Nội có bao nhiêu dân?
vi Ai đã viết Truyện Kiều?
vi Tôi có thể hủy đơn hàng không?
vi tại sao bầu trời màu xanh
ru Когда родился Лев Толстой?
ru Сколько человек живёт в Москве?
uk Хто написав Кобзар?
el Πότε χτίστηκε ο Παρθενώνας;
ar متى ولد نجيب محفوظ؟
ar كم عدد سكان القاهرة؟
he מתי נולד דוד בן גוריון?
zh 鲁迅是什么时候出生的?
zh 北京有多少人口?
ja 夏目漱石はいつ生まれましたか?
ja 東京の人口は何人ですか?
ko 세종대왕은 언제 태어났습니까?
hi महात्मा गांधी का जन्म कब हुआ था?
th กรุงเทพมีประชากรเท่าไหร่
bn রবীন্দ্রনাথ ঠাকুর কখন জন্মগ্রহণ করেন?
ta திருவள்ளுவர் எப்போது பிறந்தார்?
es ¿Dónde puedo comprar entradas baratas?
es ¿Qué edad tiene Lionel Messi?
es ¿Ganó algún premio la novela?
es Necesito devolver mis zapatos, ¿cuánto tarda?
fr À quelle heure ferme le musée du Louvre ?
fr Peut-on visiter la tour Eiffel la nuit ?
fr Quel âge a Kylian Mbappé ?
fr Il me faut une facture, comment faire ?
de Wo kann man günstige Karten kaufen?
de Welche Bücher schrieb Thomas Mann in Amerika?
de Gibt es dort einen Parkplatz?
de Wie alt ist Angela Merkel?
it A che ora apre il museo?
it Qual è la capitale del Perù?
it Quanto costa un biglietto per Roma?
it Mi serve una fattura, come faccio?
pt A que horas abre o museu?
pt Qual é a capital do Peru?
pt Quanto custa um bilhete para Lisboa?
pt Onde fica a estação mais próxima?
nl Hoe laat gaat het museum open?
nl Hoe oud is koning Willem-Alexander?
nl Waar kan ik goedkope kaartjes kopen?
nl Heeft Anne Frank een dagboek geschreven?
pl O której otwierają muzeum?
pl Jaka jest stolica Peru?
pl Ile kosztuje bilet do Gdańska?
pl Gdzie jest najbliższy dworzec?
tr Müze saat kaçta açılıyor?
tr Peru'nun başkenti neresidir?
tr Ankara'ya bilet ne kadar?
tr En yakın istasyon nerede?
id Jam berapa museum buka?
id Apa ibu kota Peru?
id Berapa harga tiket ke Bandung?
id Di mana stasiun terdekat?
sv Vilken tid öppnar museet?
sv Vad heter Perus huvudstad?
sv Hur mycket kostar en biljett till Malmö?
sv Finns det någon parkering där?
fi Mihin aikaan museo avataan?
fi Mikä on Perun pääkaupunki?
fi Paljonko lippu Turkuun maksaa?
fi Missä on lähin asema?
vi Bảo tàng mở cửa lúc mấy giờ?
vi Thủ đô của Peru là gì?
vi Vé đi Huế giá bao nhiêu?
vi Ga gần nhất ở đâu?
"""
NAMES = """
la la land cast
de la soul albums
los angeles weather?
De Niro filmography
que sera sera lyrics
El Niño effects
git rebase -i HEAD~3
pd.read_csv encoding
Who sang Je t'aime moi non plus?
What does "c'est la vie" mean?
What is 北京 in English?
coq au vin recipe
kim jong un age
vincent van gogh paintings
das boot cast
son heung-min goals
un security council members
Was Farnsworth House Ludwig Mies van der Rohe's first big project?
iphone 15 pro max
ok
why
"""


def is_known(word: str) -> bool:
    return len(load_bert_pieces().cut(word)) == 1


@pytest.mark.parametrize("context", [(), ENGLISH])
def test_other_languages_are_seen_whatever_the_dialogue_is(context: tuple[str, ...]) -> None:
    questions = [line.split(" ", 1)[1] for line in FOREIGN.strip().splitlines()]
    seen = [is_foreign(question, context, is_known) for question in questions]
    assert len(seen) >= 60
    assert sum(seen) >= 0.95 * len(seen)


@pytest.mark.parametrize("question", NAMES.strip().splitlines())
def test_names_titles_and_code_are_english(question: str) -> None:
    assert not is_foreign(question, ENGLISH, is_known)


def test_the_dialogue_decides_where_the_question_says_nothing() -> None:
    assert is_foreign("Ridley Scott?", ("¿Quién dirigió la película Alien?", "Fue un director inglés."), is_known)
    assert not is_foreign("Ridley Scott?", ENGLISH, is_known)
    assert not is_foreign("", (), is_known)


@pytest.mark.parametrize("dataset", ["everyday/suite.jsonl", "cast19/test.qonly.jsonl", "canard/dev.qa.jsonl"])
def test_no_question_of_the_data_sets_is_taken_for_another_language(data_dir: Path, dataset: str) -> None:
    if dataset.startswith("everyday"):
        examples = [case.example for case in load_cases(data_dir / dataset)]
    else:
        examples = load_dataset(data_dir / dataset)[:2_000]
    assert [one.question for one in examples if is_foreign(one.question, one.context, is_known)] == []
