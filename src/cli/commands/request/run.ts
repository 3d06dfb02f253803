// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CSR_RESOURCE,
  isFinished,
  type CertificateSigningRequest,
} from '../../../api/request/csr.ts';
import { findCondition } from '../../../api/request/conditions.ts';
import { SignerError, usageError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Connection } from '../../../kube/client/connection.ts';
import { KubeError } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { encodePem } from '../../../pki/der/pem.ts';
import { requireVisible } from '../../../pki/x509/requested-names.ts';
import { encodeRequest } from '../../../pki/x509/pkcs10.ts';
import { generatePrivateKey, publicKeyOf } from '../../../pki/keys/private-key.ts';
import { fileBase, replaceFile, writeNewKey } from './owner-only-file.ts';
import { issuedChain } from './issued-chain.ts';
import { whyNobodyServes } from './served-names.ts';
import { renderKubeconfig } from './kubeconfig-file.ts';
import { preparePkcs12, type Pkcs12Options } from './pkcs12-file.ts';
import { structuredText, type Output } from '../../../operations/report.ts';
import type { KeyType } from '../../../vocabulary.ts';
import { printable } from '../../../quote.ts';
import { printDocument, printProgress, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign request`. */
export interface RequestOptions extends UserOptions, Pkcs12Options {
  readonly signer: string;
  readonly name: string;
  readonly group: readonly string[];
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  readonly uri: readonly string[];
  readonly email: readonly string[];
  readonly usage: readonly string[];
  readonly keyType: KeyType;
  readonly expires?: number;
  readonly out: string;
  readonly csrName?: string;
  readonly timeout: number;
  readonly output: Output | 'name';
}

/** What `-o json` and `-o yaml` print. */
export interface WrittenFiles {
  readonly certificateSigningRequest: string;
  readonly signerName: string;
  /** Paths. */
  readonly files: {
    readonly key: string;
    readonly certificate: string;
    readonly kubeconfig: string;
    readonly pkcs12?: string;
  };
}

const REQUESTS = resource(CSR_RESOURCE);

/** How often the CSR is read while a person waits. */
const CSR_POLL_MS = 500;
/** By then the approver has evaluated the rules: a request that is still pending needs a person. */
const HINT_MS = 3_000;

/**
 * Runs `countersign request`.
 *
 * @throws SignerError NAME_INVALID for a name or group that no signer accepts; USAGE for a name of dots, when the
 * request is denied or failed, when its certificate is for another key, or at the timeout; KubeError of the API
 * server
 */
export async function request(options: RequestOptions): Promise<void> {
  for (const name of [options.name, ...options.group]) requireVisible(name, 'the request');
  const base = fileBase(options.out, options.name);
  const writePkcs12 = await preparePkcs12(options, process.env);
  const { connection, client } = await connectUser(options, 'request');
  try {
    const { key, pem } = await generatePrivateKey(options.keyType);
    await mkdir(options.out, { recursive: true });
    await writeNewKey(`${base}.key`, pem);
    const der = encodeRequest({
      subject: { commonName: options.name, organizations: options.group, organizationalUnits: [] },
      sans: {
        dnsNames: options.dns,
        ipAddresses: options.ip,
        uris: options.uri,
        emails: options.email,
      },
      key,
    });
    const made = await create(client, options, encodePem('CERTIFICATE REQUEST', der)).catch(
      async (error: unknown) => {
        // The request was not created, so nothing needs this key.
        if (!mayHaveLanded(error)) await rm(`${base}.key`, { force: true });
        throw error;
      },
    );
    progress(options, `${objectOf(made)} created`);
    const answer = await issued(client, made, options);
    const certificate = issuedChain(answer, publicKeyOf(key));
    await replaceFile(`${base}.crt`, certificate);
    await writePkcs12?.(options.name, key, certificate);
    const kubeconfig = await kubeconfigOf(connection, options.name, certificate, pem);
    await replaceFile(`${base}.kubeconfig`, kubeconfig);
    printWritten(options, {
      certificateSigningRequest: made.metadata.name,
      signerName: options.signer,
      files: {
        ...{ key: `${base}.key`, certificate: `${base}.crt`, kubeconfig: `${base}.kubeconfig` },
        ...(options.pkcs12 === undefined ? {} : { pkcs12: options.pkcs12 }),
      },
    });
  } finally {
    await client.close();
  }
}

function mayHaveLanded(error: unknown): boolean {
  return error instanceof KubeError && error.mayHaveLanded;
}

async function create(
  client: Client,
  options: RequestOptions,
  pem: string,
): Promise<CertificateSigningRequest> {
  const slug = options.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, 40);
  const unique = randomBytes(4).toString('hex');
  const usages = options.usage.length > 0 ? options.usage : ['digital signature', 'client auth'];
  return client.request<CertificateSigningRequest>({
    method: 'POST',
    path: REQUESTS.collection(),
    body: {
      apiVersion: REQUESTS.apiVersion,
      kind: 'CertificateSigningRequest',
      metadata: { name: options.csrName ?? `r-${slug}-${unique}`.replaceAll(/-+/g, '-') },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: options.signer,
        usages,
        ...(options.expires === undefined ? {} : { expirationSeconds: options.expires }),
      },
    },
  });
}

async function issued(
  client: Client,
  { metadata: { name }, spec }: CertificateSigningRequest,
  options: RequestOptions,
): Promise<string> {
  const started = Date.now();
  let hinted = false;
  for (;;) {
    const csr = await client.request<CertificateSigningRequest>({
      method: 'GET',
      path: REQUESTS.object({ name }),
    });
    const certificate = csr.status?.certificate ?? '';
    if (certificate !== '') return Buffer.from(certificate, 'base64').toString();
    if (isFinished(csr)) throw refused(csr);
    const waited = Date.now() - started;
    if (waited > options.timeout * 1000) throw late(name);
    if (!hinted && waited > HINT_MS) {
      hinted = true;
      const nobody = await whyNobodyServes(client, spec.signerName);
      if (nobody !== undefined) progress(options, nobody);
      progress(
        options,
        `waiting for approval; kubectl describe csr ${name} says why, and kubectl certificate approve ${name} approves it`,
      );
    }
    await sleep(CSR_POLL_MS);
  }
}

async function kubeconfigOf(
  connection: Connection,
  user: string,
  certificate: string,
  key: string,
): Promise<string> {
  const { tls } = await connection.credentials();
  return renderKubeconfig({
    server: connection.server,
    certificateAuthority: tls.ca,
    user,
    certificate,
    key,
  });
}

function refused(csr: CertificateSigningRequest): SignerError {
  const conditions = csr.status?.conditions;
  const why = findCondition(conditions, 'Failed') ?? findCondition(conditions, 'Denied');
  return usageError(
    `${csr.metadata.name} is ${why?.type ?? 'finished'}: ${why?.reason ?? ''}: ${why?.message ?? ''}`,
  );
}

function late(name: string): SignerError {
  return new SignerError({
    code: 'USAGE',
    disposition: 'wait',
    message: `timed out: ${name} has no certificate yet; the request and its key are kept, and kubectl describe csr ${name} says what it waits for; once it is signed, kubectl get csr ${name} -o jsonpath='{.status.certificate}' | base64 -d prints the certificate`,
  });
}

function objectOf({ metadata }: CertificateSigningRequest): string {
  return `certificatesigningrequest.certificates.k8s.io/${metadata.name}`;
}

function printWritten({ output }: RequestOptions, written: WrittenFiles): void {
  const { files, certificateSigningRequest } = written;
  if (output === 'json' || output === 'yaml') printDocument(structuredText(written, output));
  else if (output === 'name') {
    printText(`certificatesigningrequest.certificates.k8s.io/${certificateSigningRequest}\n`);
  } else {
    if (files.pkcs12 !== undefined) say(`wrote ${files.pkcs12}`);
    say(
      `wrote ${files.certificate} and ${files.kubeconfig}; try: kubectl --kubeconfig ${files.kubeconfig} auth whoami`,
    );
  }
}

/** What programs read is on stdout alone. */
function progress({ output }: RequestOptions, line: string): void {
  if (output === 'text') say(line);
  else printProgress(line);
}

function say(line: string): void {
  printText(`${printable(line)}\n`);
}
