# The image runs `daywalk worker` against the Postgres of DATABASE_URL; it has no embedded Postgres.
# Another base is a build argument: --build-arg NODE=node:26-slim, or pinned: --build-arg NODE=node:24-slim@sha256:…
ARG NODE=node:24-slim

# Compiles. The compiler's platform packages are optional ones, so nothing is left out here.
FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/embedded-postgres/package.json packages/embedded-postgres/tsconfig.json ./packages/embedded-postgres/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY packages/embedded-postgres/src ./packages/embedded-postgres/src
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY simulator ./simulator
RUN npm run build

# What runs in production: no compiler, no tests, no embedded Postgres.
FROM ${NODE} AS production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && rm package-lock.json .npmrc
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY --from=build /app/dist ./dist
# What is copied keeps the mode that it has in the clone: one that was made under umask 077 is readable for root alone.
RUN chmod -R a+rX LICENSE migrations package.json && chmod a+x dist/main.js

FROM ${NODE}
LABEL org.opencontainers.image.title=daywalk
ENV NODE_ENV=production
WORKDIR /app
# Everything belongs to root, so the program cannot change itself.
COPY --from=production /app ./
RUN ln -s /app/dist/main.js /usr/local/bin/daywalk
USER node
STOPSIGNAL SIGTERM
# Asks the worker's own server whether it lives and its database answers. Whether the newest day is there is /healthz: that
# is for a monitor, because no restart mends it. With status.listen off or at another port, or another verb, give the
# container another check, or none (--no-healthcheck). The first check comes after one interval, so a longer one would let
# whoever waits for a healthy worker wait.
HEALTHCHECK --interval=5s --timeout=5s --start-period=15s --retries=6 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8642/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, not npm, which would keep the signals to itself.
CMD ["daywalk", "worker"]
