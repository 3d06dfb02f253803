// SPDX-License-Identifier: Apache-2.0
import { quantity } from '#base/quantity.ts';
import { membersOf } from '#base/record.ts';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#api/object/object.ts';
import { SignerError, attempt, usageError } from '#base/errors.ts';
import { readMaterial, type Material } from '#diagnose/inspect/read-material.ts';
import type { Client } from '#kube/client/client.ts';
import { API_LINTS } from '#diagnose/lint/api-rules.ts';
import { lintAnchors } from '#diagnose/lint/anchor-rules.ts';
import { lintCertificate } from '#diagnose/lint/certificate-rules.ts';
import type { LintFinding } from '#diagnose/lint/finding.ts';
import { lintInstallation } from '#diagnose/lint/installation-rules.ts';
import { lintRequest } from '#diagnose/lint/lint-request.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { pkcs12Password } from '#cli/pkcs12-password.ts';
import { readSource } from '#cli/sources/read-source.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { lintBySigner } from './lint-by-signer.ts';
import { parseSignerFile } from '../policy/signer-file.ts';

/** Flags of `countersign lint`. */
export interface LintOptions extends UserOptions {
  readonly namespace: string;
  readonly strict: boolean;
  readonly output: Output;
}

const KINDS_OF_OURS: ReadonlySet<unknown> = new Set([
  'ClusterSigner',
  'Signer',
  'AcmeClusterSigner',
  'AcmeSigner',
  'ExternalClusterSigner',
]);

/**
 * Runs `countersign lint`.
 *
 * @returns the exit code: 3 for an error, or for a warning with `--strict`
 * @throws SignerError USAGE for a source without anything to lint, or KubeError
 */
export async function lint(sources: readonly string[], options: LintOptions): Promise<number> {
  let client: Client | undefined;
  const connect = async (): Promise<Client> =>
    (client ??= (await connectUser(options, 'lint')).client);
  try {
    const findings: LintFinding[] = [];
    let count = 0;
    for (const text of sources) {
      const linted = await lintSource(text, options.namespace, connect);
      findings.push(...linted.findings);
      count += linted.count;
    }
    if (options.output === 'text') printText(textOf(findings, count));
    else printDocument(structuredText({ linted: count, findings }, options.output));
    const isBad = findings.some(({ severity }) => options.strict || severity === 'error');
    return isBad ? EXIT_REFUSED : 0;
  } finally {
    await client?.close();
  }
}

async function lintSource(
  text: string,
  namespace: string,
  connect: () => Promise<Client>,
): Promise<LintResult> {
  const { materials, request } = await readSource(text, { namespace, connect });
  const linted: LintResult[] = [];
  for (const each of materials) linted.push(await lintMaterial(each));
  const findings = linted.flatMap((each) => each.findings);
  const bySigner =
    request === undefined
      ? []
      : await lintBySigner(await connect(), request, { where: text, found: findings });
  const count = linted.reduce((sum, each) => sum + each.count, 0);
  return { findings: [...findings, ...bySigner], count };
}

interface LintResult {
  readonly findings: readonly LintFinding[];
  readonly count: number;
}

async function lintMaterial(material: Material): Promise<LintResult> {
  const text = Buffer.from(material.bytes).toString('latin1');
  if (/^[\s{]*["']?apiVersion["']?\s*:/m.test(text)) return lintManifests(text, material.source);
  const secrets = {
    pkcs12Password: (source: string) => pkcs12Password(undefined, source, process.env),
  };
  const found = await readMaterial(material, secrets);
  const now = Date.now();
  const findings = found.flatMap(({ what, der }) => {
    if (der === undefined) return [];
    if (what.kind === 'certificate') return lintCertificate(der, what.source, now);
    if (what.kind !== 'request') return [];
    const isPem = text.includes('-----BEGIN ');
    const pem = isPem && found.length === 1 ? { pem: text } : {};
    return lintRequest({ der, ...pem }, what.source);
  });
  const certificates = found.flatMap(({ what, der }) =>
    der !== undefined && what.kind === 'certificate' ? [der] : [],
  );
  const asAnchors = lintAnchors(certificates, material.source, now);
  return { findings: [...findings, ...asAnchors], count: found.length };
}

/** Lints objects of known kinds and skips others. */
function lintManifests(text: string, file: string): LintResult {
  const documents = parseAllDocuments(text, { logLevel: 'error' });
  const judged = (Array.isArray(documents) ? documents : []).flatMap((document) => {
    const [broken] = document.errors;
    if (broken !== undefined) throw usageError(`${file} is not YAML: ${broken.message}`);
    // A reader checks what it reads of the user's object.
    const object = document.toJS({ maxAliasCount: 100 }) as Partial<KubeObject> | null;
    return itemsOf(object ?? {}).flatMap((each) => {
      const findings = lintObject(each, file);
      return findings === undefined ? [] : [findings];
    });
  });
  if (judged.length > 0) return { findings: judged.flat(), count: judged.length };
  throw usageError(
    `${file} has no object that lint checks. It checks CertificateSigningRequests, PodCertificateRequests, ClusterTrustBundles, signers of Countersign, Countersigns and CertManagerDeployments`,
  );
}

/** Returns the items of a list, as `kubectl get -o yaml` prints several objects. */
function itemsOf(
  object: Partial<KubeObject> & { readonly items?: unknown },
): readonly Partial<KubeObject>[] {
  const { kind = '', items } = object;
  // A lint reads each field of an item as unknown.
  return kind.endsWith('List') && Array.isArray(items)
    ? (items as Partial<KubeObject>[])
    : [object];
}

/** Returns undefined for an unknown kind. */
function lintObject(object: Partial<KubeObject>, file: string): readonly LintFinding[] | undefined {
  const { kind = '', metadata } = object;
  const name = metadata?.name ?? '';
  const where = `${file} ${kind}/${name}`;
  const byApi = API_LINTS.get(kind);
  if (byApi !== undefined) {
    // A lint reads each field as unknown.
    const linted = { ...object, metadata: { ...metadata, name } } as KubeObject;
    return [...byApi(linted, where), ...bundleAnchors(linted, where)];
  }
  if (!KINDS_OF_OURS.has(kind)) return lintInstallation({ ...object }, where);
  const { keyHolder, anchors } = membersOf(membersOf(object.spec)['authority']);
  return [
    ...lintSigner(JSON.stringify(object), file, where),
    ...textAnchors(anchors, `${where} spec.authority.anchors`),
    ...textAnchors(membersOf(keyHolder)['anchors'], `${where} spec.authority.keyHolder.anchors`),
  ];
}

function bundleAnchors({ kind, spec }: KubeObject, where: string): readonly LintFinding[] {
  return kind === 'ClusterTrustBundle' ? textAnchors(membersOf(spec)['trustBundle'], where) : [];
}

function textAnchors(text: unknown, where: string): readonly LintFinding[] {
  return typeof text === 'string' ? lintAnchors(certificateBlocks(text), where, Date.now()) : [];
}

function lintSigner(text: string, file: string, where: string): readonly LintFinding[] {
  const read = attempt(() => parseSignerFile(text, file));
  if (!(read instanceof SignerError)) return [];
  const source = 'docs/reference/cluster-signer.md';
  const message = read.message.replace(`${file}: `, '');
  return [{ severity: 'error', rule: 'signer-valid', source, where, message }];
}

function textOf(findings: readonly LintFinding[], count: number): string {
  const lines = findings.map(
    ({ severity, rule, source, where, message }) =>
      `${severity}: ${where}: ${message} [${rule}, ${source}]`,
  );
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const summary = `${count} linted: ${quantity(errors, 'error')}, ${quantity(findings.length - errors, 'warning')}`;
  return [...lines, summary, ''].join('\n');
}
