#!/bin/sh
# Starts Redis with users.acl and the hash of $REDIS_PASSWORD as the password of `weir`. Passes further arguments to redis-server.
set -eu
here=$(dirname "$0")
: "${REDIS_PASSWORD:?set REDIS_PASSWORD}"
acl=${REDIS_ACL_FILE:-/tmp/users.acl}
hash=$(printf %s "$REDIS_PASSWORD" | sha256sum | cut -d ' ' -f 1)
sed "s/REDIS_PASSWORD_SHA256/$hash/" "$here/users.acl" >"$acl"
exec redis-server "$here/redis.conf" --aclfile "$acl" "$@"
