// SPDX-License-Identifier: Apache-2.0
/** Two leaves of pods in one TLS connection. The API prescribes no purpose of a leaf. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operation } from '#conformance/snapshot.ts';
import { mutualTls } from '#conformance/runner/pcr/mutual-tls.ts';
import type { Run } from '#conformance/runner/run.ts';
import { extKeyUsage } from '#pki/extensions/encode-extensions.ts';
import { OID_CLIENT_AUTH, OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { authority, instead, without, type Parts } from '../../support/conformance/leaf.ts';
import { issued, requested } from '../../support/conformance/observed-requests.ts';
import { privateKey } from '../../support/pki/keys.ts';

const HOUR = 3600_000;
/** TLS verifies at the time of this machine. */
const now = Date.now();
const valid = { notBefore: now - HOUR, notAfter: now + HOUR };
const ROOT = authority('Root', 'root of today', valid);
const anchors = { certificates: [ROOT.certificate], from: 'a file' };

/** A run whose handshakes have all the time. */
const run = {
  signal: new AbortController().signal,
  timeoutMs: 10_000,
  delay: (_ms: number, signal: AbortSignal) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('ended'))),
    ),
} as unknown as Run;

function between(parts: Parts): Promise<Operation> {
  const scenario = issued(requested(), { by: ROOT, ...valid, ...parts });
  const peer = { scenario, key: privateKey('P-256', 'requested') };
  return mutualTls(run, anchors, [peer, peer]);
}

test('leaves for servers and clients authenticate each other', async () => {
  const both = await between(instead(extKeyUsage([OID_SERVER_AUTH, OID_CLIENT_AUTH])));
  assert.match(both.seen ?? both.fault ?? '', /^TLSv1\.3, both verified/);
  const any = await between(without('2.5.29.37'));
  assert.match(any.seen ?? any.fault ?? '', /^TLSv1\.3, both verified/);
});

for (const [purpose, oid] of [
  ['servers', OID_SERVER_AUTH],
  ['clients', OID_CLIENT_AUTH],
] as const) {
  test(`leaves for ${purpose} only show nothing, since a signer may issue such`, async () => {
    const { skipped, fault } = await between(instead(extKeyUsage([oid])));
    assert.equal(fault, undefined);
    assert.match(skipped ?? '', RegExp(`the leaf .*: ${oid}$`));
  });
}

test('leaves of another CA are a fault', async () => {
  const by = authority('Other', 'other root', valid);
  const { fault } = await between(
    Object.assign(instead(extKeyUsage([OID_SERVER_AUTH, OID_CLIENT_AUTH])), { by }),
  );
  assert.match(fault ?? '', /the handshake failed/);
});
