// SPDX-License-Identifier: Apache-2.0
/**
 * The files of `countersign request --renew` after a renewal that ended at any write, against an
 * API server whose signer answers at once.
 */
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { recordOf } from '#base/object-keys.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { decodePkcs12 } from '#pki/keystores/decode-pkcs12.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { countersign, type CommandResult } from '../../support/cluster/countersign.ts';
import { openWrittenServer } from '../../support/cluster/silent-server.ts';
import { certificateDer, named } from '../../support/pki/certificate-der.ts';
import { generalizedTime, seq } from '../../support/pki/der.ts';

const HOUR_MS = 3_600_000;
const PASSWORD = 'secret12345';

/** A certificate for the key of the request, issued an hour ago. */
function issue(request: string, lifeMs: number): string {
  const pem = Buffer.from(request, 'base64').toString();
  const { publicKey } = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
  const start = Date.now() - HOUR_MS;
  const time = (at: number): Uint8Array =>
    generalizedTime(new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, ''));
  const validity = seq(time(start), time(start + lifeMs));
  const der = certificateDer({ subject: named('jane'), spki: publicKey.spki, validity });
  return encodePem('CERTIFICATE', der);
}

interface Renewals {
  readonly out: string;
  readonly pkcs12: string;
  readonly request: () => Promise<CommandResult>;
  /** Runs `request --renew`, as cron does. */
  readonly renew: (pkcs12?: string) => Promise<CommandResult>;
  readonly issued: () => number;
  /** Sets the life of the next certificates: 66% of it have passed, or not. */
  readonly issueOld: (isOld: boolean) => void;
}

async function renewals(t: TestContext): Promise<Renewals> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-renew-'));
  const password = join(folder, 'password');
  writeFileSync(password, PASSWORD);
  const stored: CertificateSigningRequest[] = [];
  let lifeMs = 24 * HOUR_MS;
  const server = await openWrittenServer((incoming, response) => {
    const answer = (code: number, body: object): void => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const { pathname } = new URL(incoming.url ?? '', 'http://x');
    const found = stored.find(({ metadata }) => pathname.endsWith(`/${metadata.name}`));
    if (incoming.method === 'GET' && found !== undefined) answer(200, found);
    else if (incoming.method === 'GET') answer(404, { code: 404, reason: 'NotFound' });
    else {
      void text(incoming).then((body) => {
        const made = JSON.parse(body) as CertificateSigningRequest;
        const certificate = Buffer.from(issue(made.spec.request, lifeMs)).toString('base64');
        stored.push({ ...made, status: { certificate } });
        answer(201, made);
      });
    }
  });
  t.after(() => {
    rmSync(folder, { recursive: true });
    return server.close();
  });
  const out = join(folder, 'out');
  const pkcs12 = join(folder, 'jane.p12');
  const request = (file: string, ...more: readonly string[]): Promise<CommandResult> => {
    const flags = ['--signer', 'example.com/people', '--name', 'jane', '--out', out];
    const files = ['--pkcs12', file, '--pkcs12-password-file', password];
    const { kubeconfig } = server;
    return countersign(['request', ...flags, ...files, '--kubeconfig', kubeconfig, ...more]);
  };
  return {
    out,
    pkcs12,
    request: () => request(pkcs12),
    renew: (file = pkcs12) => request(file, '--renew'),
    issued: () => stored.length,
    issueOld: (isOld) => {
      lifeMs = (isOld ? 1.1 : 24) * HOUR_MS;
    },
  };
}

/** Expects every file to hold the certificate of `jane.crt`, and nothing else to remain. */
async function agree({ out, pkcs12 }: Renewals): Promise<void> {
  assert.deepEqual(readdirSync(out).sort(), ['jane.crt', 'jane.key', 'jane.kubeconfig']);
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
