"""``riseq calibrate``: how sure a model may be of its results."""

from pathlib import Path
from typing import Annotated

from riseq.cli import SkipBadOption, ThreadsOption, argument, load_case_set, notify, open_console, option


def calibrate(
    model: Annotated[Path, argument("MODEL", "A model's folder.")],
    data: Annotated[list[Path], option("--data -d FILE", "A suite, dialogues, or a set with targets; repeat it.")],
    report: Annotated[Path | None, option("--report FOLDER", "Also write a reliability plot and all numbers.")] = None,
    threads: ThreadsOption = None,
    skip_bad: SkipBadOption = False,
) -> None:
    """Fit how sure a model may be, on questions it was not trained on.

    MODEL gets [bold]confidence.json[/]: the probability that a person accepts a
    result (from a suite or everyday dialogues, else from the targets), when another
    pass is worth its time, and when what only the question says may go. Prints
    the expected calibration error, on dialogues that the fit had not seen.

    \b
    [bold]Examples[/]
      riseq calibrate models/default --data everyday/suite --data canard/dev.qa
      riseq calibrate models/small --data dev.jsonl --report reports/small
      riseq calibrate models/resolve --data everyday/suite+resolve
    """
    from riseq.calibrate.calibration import calibrate as fit
    from riseq.calibrate.report import show_calibrated, write_report
    from riseq.engine.confidence import FILE, read_calibration
    from riseq.engine.directions import load_engine
    from riseq.files import write_json
    from riseq.model.folder import is_exported, load_exported

    sets = {str(name): load_case_set(name, skip_bad) for name in data}
    network = load_exported(model).config["checksums"] if is_exported(model) else None
    calibrated = fit(load_engine(model, threads=threads, calibrated=False), sets, network)
    write_json(model / FILE, calibrated.calibration.to_dict())
    read_calibration(model, network)
    show_calibrated(open_console(), calibrated)
    notify(f"wrote {model / FILE}")
    if report is not None:
        write_report(report, calibrated)
        notify(f"wrote the plot and the numbers to {report}")
