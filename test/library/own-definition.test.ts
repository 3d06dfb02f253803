// SPDX-License-Identifier: Apache-2.0
/** An author whose issuers have a CustomResourceDefinition already keeps it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CSR, ISSUER, csrObject, issuerObject, startWorld } from './world.ts';

/** A spec without any field of ours. */
interface OwnSpec {
  readonly server?: string;
  readonly copies?: readonly string[];
}

function issuerSpec(spec: unknown): unknown {
  const { server, copies } = spec as OwnSpec;
  if (server === undefined) throw new Error('server is missing');
  const profile = { keyTypes: ['ECDSAP256', 'ED25519', 'RSA3072'] };
  return { authority: { url: server }, profile, requests: { copy: copies } };
}

function ownIssuer(spec: OwnSpec): ReturnType<typeof issuerObject> {
  return Object.assign(issuerObject(), { spec });
}

test('an issuer of an own definition is checked and signs, and its spec stays as it is', async () => {
  const it = await startWorld({ issuerSpec });
  try {
    const spec = { server: 'https://own.example.com', copies: ['commonName', 'organizations'] };
    it.api.put(ISSUER, ownIssuer(spec));
    it.api.put(`${CSR}/own`, csrObject('own'));
    await it.settle();
    assert.equal(it.ready()?.reason, 'Checked');
    assert.deepEqual(it.author.checks[0]?.config, { url: 'https://own.example.com' });
    const { certificate } = (it.api.get(`${CSR}/own`)?.status ?? {}) as { certificate?: string };
    assert.ok(certificate);
    assert.deepEqual(it.api.get(ISSUER)?.spec, spec);
  } finally {
    await it.stop();
  }
});

test('an own spec that makes no issuer is InvalidSpec, with the author’s message', async () => {
  const it = await startWorld({ issuerSpec });
  try {
    it.api.put(ISSUER, ownIssuer({ copies: [] }));
    await it.settle();
    const ready = it.ready();
    assert.equal(ready?.reason, 'InvalidSpec');
    assert.match(ready.message ?? '', /spec: server is missing/);
  } finally {
    await it.stop();
  }
});
