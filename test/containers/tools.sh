#!/usr/bin/env bash
# Unpacks a container engine, Compose 2 and debootstrap into the folder that is given: Debian 13's packages, checked by apt,
# installed nowhere. They run on Debian 12 too, except runc, which is therefore that of this machine's own Debian.
set -euo pipefail
folder=$1
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$folder"/{lists,cache/archives}/partial "$folder/debs" "$folder/root" "$folder/config/cli-plugins"
for suite in trixie "$here"; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main"
done | uniq > "$folder/sources.list"
apt=(timeout 180 apt-get -qq -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=-
  -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
cd "$folder/debs"
packages=(docker.io docker-cli containerd tini docker-compose docker-buildx debootstrap)
"${apt[@]}" download "${packages[@]/%//trixie}" "runc/$here"
for package in *.deb; do dpkg-deb --extract "$package" "$folder/root"; done
ln -s "$folder"/root/usr/libexec/docker/cli-plugins/* "$folder/config/cli-plugins/"
