# riseq serve with the model that ships. Build and run it from a checkout:
#   docker build -t riseq . && docker run --rm -p 127.0.0.1:8000:8000 riseq
# Settings come as flags behind the image's name or as RISEQ_* variables: docs/server.md lists them all.
FROM python:3.12-slim AS build
WORKDIR /checkout
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY examples/dialogues.jsonl examples/
COPY models/default models/default
COPY models/resolve models/resolve
RUN python -m venv /opt/riseq && /opt/riseq/bin/pip install --no-cache-dir --disable-pip-version-check '.[serve]'

FROM python:3.12-slim
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin riseq
COPY --from=build /opt/riseq /opt/riseq
# Inside a container only its own interface reaches the outside; which ports do is said with -p.
# The server writes where it listens, which --port and the like may change, for the health check. /dev/shm is there and
# can be written to in a read-only container too. onnxruntime reports to its makers from 1.29 on, unless told not to.
ENV PATH=/opt/riseq/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 RISEQ_HOST=0.0.0.0 RISEQ_PORT=8000 \
    RISEQ_ADDRESS_FILE=/dev/shm/riseq.address ORT_DISABLE_TELEMETRY=1
USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM
# Ready, not only alive: /ready answers 503, which raises here, when questions fail or the queue is full.
HEALTHCHECK --interval=15s --timeout=8s --start-period=30s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as r; r.urlopen(open(os.environ['RISEQ_ADDRESS_FILE']).read() + '/ready', timeout=7)"]
ENTRYPOINT ["riseq", "serve"]
