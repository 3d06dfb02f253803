// SPDX-License-Identifier: Apache-2.0
/** `countersign request --renew` of jane, against an API server with a signer. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { countersign, type CommandResult } from '../../support/cluster/countersign.ts';
import { openWrittenServer } from '../../support/cluster/silent-server.ts';
import { certificateDer, named } from '../../support/pki/certificate-der.ts';
import { generalizedTime, seq } from '../../support/pki/der.ts';

const HOUR_MS = 3_600_000;
export const PASSWORD = 'secret12345';

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

export interface Renewals {
  readonly out: string;
  readonly pkcs12: string;
  readonly request: () => Promise<CommandResult>;
  /** Runs `request --renew`, as cron does. */
  readonly renew: (pkcs12?: string, ...more: readonly string[]) => Promise<CommandResult>;
  readonly issued: () => number;
  /** Sets the life of the next certificates: 66% of it have passed, or not. */
  readonly issueOld: (isOld: boolean) => void;
  /** The words after `countersign` of {@link renew}. */
  readonly words: readonly string[];
  /** Sets whether the signer signs. It signs at first. */
  readonly sign: (signs: boolean) => void;
}

export async function renewals(t: TestContext): Promise<Renewals> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-renew-'));
  const password = join(folder, 'password');
  writeFileSync(password, PASSWORD);
  const stored: CertificateSigningRequest[] = [];
  let lifeMs = 24 * HOUR_MS;
  let isSigning = true;
  const signed = (made: CertificateSigningRequest): CertificateSigningRequest => {
    if (!isSigning) return made;
    const certificate = Buffer.from(issue(made.spec.request, lifeMs)).toString('base64');
    return { ...made, status: { certificate } };
  };
  const server = await openWrittenServer((incoming, response) => {
    const answer = (code: number, body: object): void => {
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const { pathname } = new URL(incoming.url ?? '', 'http://x');
    const found = stored.find(({ metadata }) => pathname.endsWith(`/${metadata.name}`));
    if (incoming.method === 'GET' && found !== undefined) answer(200, signed(found));
    else if (incoming.method === 'GET') answer(404, { code: 404, reason: 'NotFound' });
    else {
      void text(incoming).then((body) => {
        const made = JSON.parse(body) as CertificateSigningRequest;
        stored.push(made);
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
  const wordsOf = (file: string, ...more: readonly string[]): readonly string[] => {
    const flags = ['--signer', 'example.com/people', '--name', 'jane', '--out', out];
    const files = ['--pkcs12', file, '--pkcs12-password-file', password];
    const { kubeconfig } = server;
    return ['request', ...flags, ...files, '--kubeconfig', kubeconfig, ...more];
  };
  return {
    out,
    pkcs12,
    request: () => countersign(wordsOf(pkcs12)),
    renew: (file = pkcs12, ...more) => countersign(wordsOf(file, '--renew', ...more)),
    issued: () => stored.length,
    issueOld: (isOld) => {
      lifeMs = (isOld ? 1.1 : 24) * HOUR_MS;
    },
    words: wordsOf(pkcs12, '--renew'),
    sign: (signs) => {
      isSigning = signs;
    },
  };
}
