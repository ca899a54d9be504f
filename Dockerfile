# Sirocco as an image: from the lock, without build tools, without root, and with a read-only root file system.
#
#   docker build --tag sirocco .
#   docker run --rm --read-only --tmpfs /tmp --volume "$PWD/runs:/runs" sirocco run --agent http://host:8000 --out /runs/first
FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
COPY requirements.lock ./
RUN python -m venv /opt/sirocco && /opt/sirocco/bin/pip install --require-hashes --no-deps --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/sirocco/bin/pip install --no-deps --no-build-isolation .

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 sirocco && mkdir /runs && chown sirocco /runs
COPY --from=build /opt/sirocco /opt/sirocco
ENV PATH=/opt/sirocco/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/tmp
USER sirocco
WORKDIR /runs
VOLUME ["/runs"]
ENTRYPOINT ["sirocco"]
CMD ["--help"]
