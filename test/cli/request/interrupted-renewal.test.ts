// SPDX-License-Identifier: Apache-2.0
/**
 * The files of `countersign request --renew` after a renewal that ended at any write, against an
 * API server whose signer answers at once.
 */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordOf } from '#base/object-keys.ts';
import { decodePkcs12 } from '#pki/keystores/decode-pkcs12.ts';
import { PASSWORD, renewals, type Renewals } from './renewals.ts';

/** Expects every file but the lock to hold the certificate of `jane.crt`, and no other file. */
async function agree({ out, pkcs12 }: Renewals): Promise<void> {
  const names = ['jane.crt', 'jane.key', 'jane.kubeconfig', 'jane.lock'];
  assert.deepEqual(readdirSync(out).sort(), names);
  const certificate = new X509Certificate(readFileSync(join(out, 'jane.crt')));
  const key = readFileSync(join(out, 'jane.key'), 'utf8');
  assert.equal(certificate.checkPrivateKey(createPrivateKey(key)), true);
  const kubeconfig = readFileSync(join(out, 'jane.kubeconfig'), 'utf8');
  const embedded = (field: string): string => {
    const [, base64 = ''] = new RegExp(`${field}: (\\S+)`).exec(kubeconfig) ?? [];
    return Buffer.from(base64, 'base64').toString();
  };
  assert.equal(embedded('client-certificate-data'), readFileSync(join(out, 'jane.crt'), 'utf8'));
  assert.equal(embedded('client-key-data'), key);
  const { certificates } = await decodePkcs12(readFileSync(pkcs12), PASSWORD);
  assert.deepEqual(
    certificates.map(({ der }) => Buffer.from(der)),
    [certificate.raw],
  );
}

const contents = ({ out, pkcs12 }: Renewals): Readonly<Record<string, string>> =>
  recordOf(
    [...readdirSync(out).map((name) => join(out, name)), pkcs12].map(
      (path) => [path, readFileSync(path, 'base64')] as const,
    ),
  );

test('every renewal replaces all files, that of PKCS#12 as well', async (t) => {
  const files = await renewals(t);
  files.issueOld(true);
  for (const count of [1, 2]) {
    const { code, stderr } = await files.renew();
    assert.equal(code, 0, stderr);
    assert.equal(files.issued(), count);
    await agree(files);
  }
  files.issueOld(false);
  await files.renew();
  const { stderr } = await files.renew();
  assert.match(stderr, /nothing to renew/);
  assert.equal(files.issued(), 3);
  await agree(files);
});

test('a renewal that cannot write a file keeps key and certificate as they were', async (t) => {
  const files = await renewals(t);
  files.issueOld(true);
  await files.renew();
  const before = contents(files);
  const kubeconfig = join(files.out, 'jane.kubeconfig');
  rmSync(kubeconfig);
  mkdirSync(kubeconfig);
  assert.equal((await files.renew()).code, 1);
  for (const name of ['jane.key', 'jane.crt']) {
    assert.equal(readFileSync(join(files.out, name), 'base64'), before[join(files.out, name)]);
  }
  rmSync(kubeconfig, { recursive: true });
  files.issueOld(false);
  const { code, stderr } = await files.renew();
  assert.equal(code, 0, stderr);
  await agree(files);
});

test('a run after an interrupted one replaces files that do not belong together', async (t) => {
  const files = await renewals(t);
  await files.renew();
  const first = contents(files);
  rmSync(join(files.out, 'jane.crt'));
  await files.renew();
  const paths = ['jane.kubeconfig', 'jane.key', 'jane.crt'].map((name) => join(files.out, name));
  for (const path of paths) {
    writeFileSync(path, Buffer.from(first[path] ?? '', 'base64'));
    const before = files.issued();
    const { code, stderr } = await files.renew();
    assert.equal(code, 0, stderr);
    assert.equal(files.issued(), before + 1, path);
    await agree(files);
  }
  for (const path of [...paths, files.pkcs12]) {
    rmSync(path);
    await files.renew();
    await agree(files);
  }
});

test('a PKCS#12 file that cannot be written ends the command before its request', async (t) => {
  const files = await renewals(t);
  const absent = join(files.out, 'absent', 'jane.p12');
  const { code, stderr } = await files.renew(absent);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /absent\/jane\.p12 cannot be written/);
  assert.equal(files.issued(), 0);
});

test('a request without --renew never replaces a PKCS#12 file', async (t) => {
  const files = await renewals(t);
  writeFileSync(files.pkcs12, 'a key in use');
  const { code, stderr } = await files.request();
  assert.equal(code, 2, stderr);
  assert.match(stderr, /exists and may have a key that is in use/);
  assert.equal(readFileSync(files.pkcs12, 'utf8'), 'a key in use');
});
