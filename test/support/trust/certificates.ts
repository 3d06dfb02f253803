// SPDX-License-Identifier: Apache-2.0
/** CAs of trust domains and X509-SVIDs, valid now. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePem } from '#pki/der/pem.ts';
import { ca, link, purposes, san, usage, type Link } from '../pki/chain.ts';
import { seq, utcTime } from '../pki/der.ts';

const DAY = 86_400_000;
const URI = 6;
const DNS = 2;
const BOTH = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

/** YYMMDDHHMMSSZ. */
function time(milliseconds: number): Uint8Array {
  return utcTime(
    `${new Date(milliseconds)
      .toISOString()
      .replaceAll(/[-:T]|\.\d+Z/g, '')
      .slice(2)}Z`,
  );
}

function validity(): Uint8Array {
  const now = Date.now();
  return seq(time(now - DAY), time(now + DAY));
}

/** A CA of a trust domain. */
export function spiffeCa(name: string, ...extensions: readonly Uint8Array[]): Link {
  return link(name, { extensions: [ca(), usage(), ...extensions], validity: validity() });
}

/** A leaf of it with this SPIFFE ID, for `localhost` as well. */
export function svidOf(by: Link, id: string, ...uris: readonly string[]): Link {
  const names = [id, ...uris].map((each): [number, string] => [URI, each]);
  return link(`leaf of ${by.name}`, {
    by,
    validity: validity(),
    extensions: [usage([0x80], 7), purposes(...BOTH), san(...names, [DNS, 'localhost'])],
  });
}

/** PEM of a certificate. */
export function pemOf({ certificate }: Pick<Link, 'certificate'>): string {
  return encodePem('CERTIFICATE', certificate.raw);
}

/** PEM of its key. */
export function keyOf({ key }: Pick<Link, 'key'>): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A directory with `tls.crt` and `tls.key`. */
export async function servingDirectory(leaf: Link): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'svid-'));
  await writeFile(join(directory, 'tls.crt'), pemOf(leaf));
  await writeFile(join(directory, 'tls.key'), keyOf(leaf));
  return directory;
}
