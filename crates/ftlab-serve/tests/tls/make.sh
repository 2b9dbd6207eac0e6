#!/bin/sh
# Makes the certificates of the tests anew: an authority, a server at localhost, and a client, for a
# hundred years. They protect nothing; their keys are public.
set -eu
cd "$(dirname "$0")"
days=36500
new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "$@" 2>/dev/null; }
new -x509 -days $days -subj "/CN=ftlab test authority" -keyout ca-key.pem -out ca-cert.pem \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign"
for who in server client; do
    new -subj "/CN=ftlab test $who" -keyout $who-key.pem -out $who.csr
    printf '%s\n' "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1" "basicConstraints=CA:FALSE" \
        "extendedKeyUsage=${who}Auth" >extensions
    openssl x509 -req -days $days -in $who.csr -CA ca-cert.pem -CAkey ca-key.pem -CAcreateserial \
        -extfile extensions -out $who-cert.pem 2>/dev/null
done
rm -f ca-key.pem ca-cert.srl ./*.csr extensions
