// SPDX-License-Identifier: Apache-2.0
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import { findCondition } from '#api/request/conditions.ts';
import { SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { Connection } from '#kube/client/connection.ts';
import { KubeError, transientError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { requireVisible } from '#pki/x509/requested-names.ts';
import { generatePrivateKey, publicKeyOf } from '#pki/keys/private-key.ts';
import {
  fileBase,
  replaceFiles,
  requireWritable,
  writeNewKey,
  type FileToWrite,
} from './owner-only-file.ts';
import { issuedChain } from './issued-chain.ts';
import {
  objectToCreate,
  requireAcceptable,
  requireAcceptedBySigner,
  usagesOf,
  type RequestToCreate,
  type RequestedParts,
} from './request-object.ts';
import { isDue, type CertificateFiles } from './renewal.ts';
import { unansweredHint } from './served-names.ts';
import { whileLocked } from './while-locked.ts';
import { renderKubeconfig, type ClientKubeconfig } from './kubeconfig-file.ts';
import { preparePkcs12, type Pkcs12Options } from './pkcs12-file.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import type { KeyType } from '#base/vocabulary.ts';
import { printable, shellWord } from '#base/quote.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign request`. */
export interface RequestOptions extends UserOptions, Pkcs12Options, RequestedParts {
  readonly keyType: KeyType;
  readonly out: string;
  readonly timeout: number;
  readonly output: Output | 'name';
}

/** The result that `-o json` and `-o yaml` print. */
export interface WrittenFiles {
  readonly certificateSigningRequest: string;
  readonly signerName: string;
  readonly files: CertificateFiles;
}

const REQUESTS = resource(CSR_RESOURCE);

/** Interval of polls of the CSR. */
const CSR_POLL_MS = 500;
/**
 * Time within which the approver evaluates the rules. A request that is still pending needs a
 * person.
 */
const HINT_MS = 3_000;

/**
 * Runs `countersign request`. With `--renew` it creates a request only if the certificate is due,
 * and replaces the files only once it has the new certificate. One process at a time writes the
 * files of a name.
 *
 * @throws SignerError NAME_INVALID or USAGE for a request that no signer accepts, or that the
 * signer would refuse for good. Nothing is written then.
 * @throws SignerError USAGE for a name of dots, a denied or failed request, a certificate for
 * another key, or a timeout
 * @throws KubeError of the API server
 */
export async function request(options: RequestOptions): Promise<void> {
  for (const name of [options.name, ...options.group]) requireVisible(name, 'the request');
  const base = fileBase(options.out, options.name);
  const files = filesOf(options, base);
  if (options.renew && !(await isDue(files))) return;
  const { key, pem } = await generatePrivateKey(options.keyType);
  const object = objectToCreate(options, key);
  requireAcceptable(object);
  const renderPkcs12 = await preparePkcs12(options, process.env);
  const { connection, client } = await connectUser(options, 'request');
  try {
    await requireAcceptedBySigner(client, object);
    await mkdir(options.out, { recursive: true });
    await whileLocked(base, async () => {
      if (files.pkcs12 !== undefined) await requireWritable(files.pkcs12);
      const keyFile = options.renew ? `${base}.next.key` : files.key;
      if (options.renew) await replaceFiles([[keyFile, pem]]);
      else await writeNewKey(keyFile, pem);
      const made = await create(client, object).catch(async (error: unknown) => {
        // The request was not created, so nothing needs this key.
        if (!mayHaveLanded(error)) await rm(keyFile, { force: true });
        throw error;
      });
      progress(options, `${objectOf(made)} created`);
      const answer = await issued(client, made, options, keyFile);
      const certificate = issuedChain(answer, publicKeyOf(key));
      const user = { user: options.name, certificate, key: pem };
      await replaceFiles([
        ...(await renderPkcs12(options.name, key, certificate)),
        ...(await renderClientFiles(connection, files.kubeconfig, user)),
        [files.key, pem],
        // The certificate is last: the files of an interrupted run do not fit it, so that the next
        // --renew replaces them.
        [files.certificate, certificate],
      ]);
      if (options.renew) await rm(keyFile, { force: true });
      printWritten(options, {
        certificateSigningRequest: made.metadata.name,
        signerName: options.signer,
        files,
      });
    });
  } finally {
    await client.close();
  }
}

function filesOf(options: RequestOptions, base: string): CertificateFiles {
  return {
    key: `${base}.key`,
    certificate: `${base}.crt`,
    ...(isForClients(options) ? { kubeconfig: `${base}.kubeconfig` } : {}),
    ...(options.pkcs12 === undefined ? {} : { pkcs12: options.pkcs12 }),
  };
}

function isForClients(options: RequestOptions): boolean {
  return usagesOf(options).some((each) => each === 'client auth' || each === 'any');
}

function mayHaveLanded(error: unknown): boolean {
  return error instanceof KubeError && error.mayHaveLanded;
}

function create(client: Client, object: RequestToCreate): Promise<CertificateSigningRequest> {
  return client.request<CertificateSigningRequest>({
    method: 'POST',
    path: REQUESTS.collection(),
    body: { apiVersion: REQUESTS.apiVersion, kind: 'CertificateSigningRequest', ...object },
  });
}

async function issued(
  client: Client,
  { metadata: { name } }: CertificateSigningRequest,
  options: RequestOptions,
  keyFile: string,
): Promise<string> {
  const started = Date.now();
  const path = REQUESTS.object({ name });
  const reported = new Set<string>();
  let hints: readonly string[] | undefined;
  for (;;) {
    const csr = await client
      .request<CertificateSigningRequest>({ method: 'GET', path })
      .catch(transientError);
    const fault = csr instanceof KubeError ? [`waiting: ${csr.message}`] : [];
    const waited = Date.now() - started;
    if (!(csr instanceof KubeError)) {
      const certificate = await certificateIn(csr, keyFile);
      if (certificate !== undefined) return certificate;
      if (waited > HINT_MS) hints ??= await hintsOf(client, csr);
    }
    if (waited > options.timeout * 1000) throw late(name, keyFile, { ...options, fault });
    const lines = [...fault, ...(hints ?? [])].filter((line) => !reported.has(line));
    for (const line of lines) {
      progress(options, line);
      reported.add(line);
    }
    await sleep(CSR_POLL_MS);
  }
}

/** @throws SignerError USAGE for a denied or failed request, whose key it deletes */
async function certificateIn(
  csr: CertificateSigningRequest,
  keyFile: string,
): Promise<string | undefined> {
  const certificate = csr.status?.certificate ?? '';
  if (certificate !== '') return Buffer.from(certificate, 'base64').toString();
  if (!isFinished(csr)) return undefined;
  await rm(keyFile, { force: true });
  throw refused(csr);
}

/** Returns what a request waits for, and how to find the cause. */
export async function hintsOf(
  client: Client,
  csr: CertificateSigningRequest,
): Promise<readonly string[]> {
  const { spec, metadata } = csr;
  const hint = await unansweredHint(client, spec.signerName);
  if (hint === undefined) return [waiting(csr)];
  if (hint.isApprovable) return [hint.text, waiting(csr)];
  const command = `countersign explain ${shellWord(`csr/${metadata.name}`)}`;
  return [`${hint.text}; ${command} prints the next step`];
}

function waiting(csr: CertificateSigningRequest): string {
  const { name } = csr.metadata;
  const explain = `countersign explain ${shellWord(`csr/${name}`)} shows the cause`;
  if (isApproved(csr)) return `approved, and waiting for its certificate; ${explain}`;
  return `waiting for approval; ${explain}, and kubectl certificate approve ${shellWord(name)} approves it`;
}

async function renderClientFiles(
  connection: Connection,
  file: string | undefined,
  user: Pick<ClientKubeconfig, 'user' | 'certificate' | 'key'>,
): Promise<readonly FileToWrite[]> {
  if (file === undefined) return [];
  const { tls } = await connection.credentials();
  const kubeconfig = renderKubeconfig({
    server: connection.server,
    certificateAuthority: tls.ca,
    tlsServerName: tls.servername,
    insecureSkipTlsVerify: tls.rejectUnauthorized === false,
    ...user,
  });
  return [[file, kubeconfig]];
}

function refused(csr: CertificateSigningRequest): SignerError {
  const conditions = csr.status?.conditions;
  const why = findCondition(conditions, 'Failed') ?? findCondition(conditions, 'Denied');
  const { name } = csr.metadata;
  return new SignerError({
    code: 'USAGE',
    disposition: 'fail',
    message: `${name} is ${why?.type ?? 'finished'}: ${why?.reason ?? ''}: ${why?.message ?? ''}`,
    next: `countersign explain ${shellWord(`csr/${name}`)}`,
  });
}

function late(
  name: string,
  keyFile: string,
  { renew, fault }: { readonly renew: boolean; readonly fault: readonly string[] },
): SignerError {
  const yet = ['no certificate yet', ...fault].join(', ');
  const kept = `Its key is in ${keyFile}${renew ? ', until the next --renew replaces it' : ''}`;
  return new SignerError({
    code: 'USAGE',
    disposition: 'wait',
    message: `timed out: ${name} has ${yet}. ${kept}. Once it is signed, kubectl get csr ${shellWord(name)} -o jsonpath='{.status.certificate}' | base64 -d prints the certificate`,
    next: `countersign explain ${shellWord(`csr/${name}`)}`,
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
    const { key, certificate, kubeconfig } = files;
    say(
      kubeconfig === undefined
        ? `wrote ${key} and ${certificate}`
        : `wrote ${certificate} and ${kubeconfig}; try: kubectl --kubeconfig ${kubeconfig} auth whoami`,
    );
  }
}

/** Prints progress on stderr if programs read stdout. */
function progress({ output }: RequestOptions, line: string): void {
  if (output === 'text') say(line);
  else printProgress(line);
}

function say(line: string): void {
  printText(`${printable(line)}\n`);
}
