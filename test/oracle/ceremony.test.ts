// SPDX-License-Identifier: Apache-2.0
/** What `countersign ceremony` writes for each kind of root key, as Go reads it. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { AUTHORITY_KEY_TYPES } from '#base/vocabulary.ts';
import { CRL, INTERMEDIATE, ROOT, ceremonyOf, changed } from '../support/ca/ceremony.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { ACCEPTED, PARSED, chainOf, openOracle } from './oracle.ts';

const oracle = await openOracle();
after(() => oracle[Symbol.asyncDispose]());
const folder = mkdtempSync(join(tmpdir(), 'ceremony-oracle-'));
after(() => {
  rmSync(folder, { recursive: true });
});
writeFileSync(join(folder, 'pass'), 'correct horse battery', { mode: 0o600 });

const NOW = Date.parse('2027-06-01T00:00:00Z');

/** Holds the ceremonies of a root with this kind of key, and returns the outputs in DER. */
async function held(
  keyType: string,
): Promise<Readonly<Record<'root' | 'made' | 'crl', Uint8Array>>> {
  const name = (what: string): string => `${keyType}-${what}`;
  const file = join(folder, name('ceremony.yaml'));
  const plan = ceremonyOf({
    ca: { key: { file: name('root.key') }, certificate: name('root.crt') },
    root: changed(ROOT, { keyType }),
    intermediate: changed(INTERMEDIATE, {
      key: { file: name('made.key'), type: 'ECDSAP256' },
      certificate: name('made.crt'),
    }),
    crl: changed(CRL, {
      file: name('root.crl'),
      thisUpdate: '2027-02-01T00:00:00Z',
      revoked: [{ serial: '1a', revokedAt: '2027-01-31T00:00:00Z', reason: 'superseded' }],
    }),
  });
  writeFileSync(file, JSON.stringify(plan));
  const pass = join(folder, 'pass');
  for (const verb of ['root', 'intermediate', 'crl']) {
    const more = verb === 'intermediate' ? ['--new-passphrase-file', pass] : [];
    const args = ['ceremony', verb, file, '--passphrase-file', pass, '--yes', ...more];
    const { code, stderr } = await countersign(args);
    assert.equal(code, 0, stderr);
  }
  const { code, stdout } = await countersign(['ceremony', 'verify', file]);
  assert.equal(code, 0, stdout);
  const certificate = (what: string): Uint8Array =>
    new X509Certificate(readFileSync(join(folder, name(what)))).raw;
  return {
    root: certificate('root.crt'),
    made: certificate('made.crt'),
    crl: readFileSync(join(folder, name('root.crl'))),
  };
}

for (const keyType of AUTHORITY_KEY_TYPES) {
  test(`a ceremony with a root key of type ${keyType} is verified, and by Go`, async () => {
    const { root, made, crl } = await held(keyType);
    const asked = (leaf: Uint8Array): Uint8Array =>
      chainOf({ leaf, intermediates: [], roots: [root], now: NOW });
    // Go 1.26 reads certificates of ML-DSA CAs, and verifies none. Its judge of CRLs has ML-DSA.
    const level = keyType === 'MLDSA65' ? PARSED : ACCEPTED;
    assert.equal((await oracle.ask('v', asked(made))).level, level);
    const list = await oracle.ask('k', asked(crl));
    assert.equal(list.level, ACCEPTED, list.reason);
    const seconds = ['2027-02-01T00:00:00Z', CRL['nextUpdate']].map(
      (each) => Date.parse(String(each)) / 1000,
    );
    const revoked = Date.parse('2027-01-31T00:00:00Z') / 1000;
    assert.equal(list.reason, `${seconds[0]} ${seconds.join(' ')} 1a/${revoked}/4`);
  });
}
