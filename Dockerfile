# The image runs `daywalk worker` against the Postgres of DATABASE_URL; it has no embedded Postgres.
# Another base is a build argument: --build-arg NODE=node:22-slim, or pinned: --build-arg NODE=node:20-slim@sha256:…
ARG NODE=node:20-slim

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
FROM ${NODE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM ${NODE}
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Everything belongs to root, so the program cannot change itself.
USER node
STOPSIGNAL SIGTERM
# Asks the worker's own server whether it lives and its database answers. Whether the newest day is there is /healthz: that
# is for a monitor, because no restart mends it. With status.listen off or at another port, or another verb, give the
# container another check, or none (--no-healthcheck).
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8642/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, not npm, which would keep the signals to itself.
CMD ["node", "dist/main.js", "worker"]
