# docker build -t paraply . && docker run --rm -v "$PWD:/data:ro" paraply audit binlog.000001
FROM python:3.13-slim AS build
COPY pyproject.toml README.md LICENSE requirements-core.lock /source/
COPY paraply /source/paraply
COPY proofs /source/proofs
COPY docs/paraply.1 /source/docs/
RUN python -m venv /opt/paraply \
    && /opt/paraply/bin/pip install --no-cache-dir --require-hashes -r /source/requirements-core.lock \
    && /opt/paraply/bin/pip install --no-cache-dir --no-deps --no-build-isolation /source

FROM python:3.13-slim
COPY --from=build /opt/paraply /opt/paraply
RUN useradd --system --no-create-home paraply
USER paraply
WORKDIR /data
ENTRYPOINT ["/opt/paraply/bin/paraply"]
CMD ["--help"]
