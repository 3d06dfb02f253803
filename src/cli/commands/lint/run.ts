// SPDX-License-Identifier: Apache-2.0
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../api/object/object.ts';
import { SignerError, attempt, usageError } from '../../../errors.ts';
import { readMaterial, type Material } from '../../../inspecting/read-material.ts';
import type { Client } from '../../../kube/client/client.ts';
import { API_LINTS } from '../../../linting/api-rules.ts';
import { lintCertificate } from '../../../linting/certificate-rules.ts';
import type { LintFinding } from '../../../linting/finding.ts';
import { lintRequest } from '../../../linting/lint-request.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
import { pkcs12Password } from '../../pkcs12-password.ts';
import { readSource } from '../../sources/read-source.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { parseSignerFile } from '../policy/signer-file.ts';

/** Flags of `countersign lint`. */
export interface LintOptions extends UserOptions {
  readonly namespace: string;
  readonly strict: boolean;
  readonly output: Output;
}

const KINDS_OF_OURS: ReadonlySet<unknown> = new Set([
  ...['ClusterSigner', 'Signer', 'AcmeClusterSigner', 'AcmeSigner'],
]);

/**
 * Runs `countersign lint`.
 *
 * @returns the exit code: 3 for an error, with `--strict` for a warning, too
 * @throws SignerError USAGE for what is nothing to lint; KubeError
 */
export async function lint(sources: readonly string[], options: LintOptions): Promise<number> {
  let client: Client | undefined;
  const connect = async (): Promise<Client> =>
    (client ??= (await connectUser(options, 'lint')).client);
  try {
    const findings: LintFinding[] = [];
    let count = 0;
    for (const text of sources) {
      const { materials } = await readSource(text, { namespace: options.namespace, connect });
      for (const each of materials) {
        const linted = await lintMaterial(each);
        findings.push(...linted.findings);
        count += linted.count;
      }
    }
    if (options.output === 'text') printText(textOf(findings, count));
    else printDocument(structuredText({ linted: count, findings }, options.output));
    const isBad = findings.some(({ severity }) => options.strict || severity === 'error');
    return isBad ? EXIT_REFUSED : 0;
  } finally {
    await client?.close();
  }
}

interface Linted {
  readonly findings: readonly LintFinding[];
  readonly count: number;
}

async function lintMaterial(material: Material): Promise<Linted> {
  const text = Buffer.from(material.bytes).toString('utf8');
  if (/^[\s{]*["']?apiVersion["']?\s*:/m.test(text)) return lintManifests(text, material.source);
  const secrets = {
    pkcs12Password: (source: string) => pkcs12Password(undefined, source, process.env),
  };
  const found = await readMaterial(material, secrets);
  const now = Date.now();
  const findings = found.flatMap(({ what, der }) => {
    if (der === undefined) return [];
    if (what.kind === 'certificate') return lintCertificate(der, what.source, now);
    return what.kind === 'request' ? lintRequest(der, what.source) : [];
  });
  return { findings, count: found.length };
}

/** Objects of other kinds are not ours to judge. */
function lintManifests(text: string, file: string): Linted {
  const documents = parseAllDocuments(text, { logLevel: 'error' });
  const judged = (Array.isArray(documents) ? documents : []).flatMap((document) => {
    const [broken] = document.errors;
    if (broken !== undefined) throw usageError(`${file} is no YAML: ${broken.message}`);
    const object = document.toJS({ maxAliasCount: 100 }) as Partial<KubeObject> | null;
    return itemsOf(object ?? {}).flatMap((each) => {
      const findings = lintObject(each, file);
      return findings === undefined ? [] : [findings];
    });
  });
  if (judged.length > 0) return { findings: judged.flat(), count: judged.length };
  throw usageError(
    `${file} has nothing to lint: neither a CertificateSigningRequest, PodCertificateRequest or ClusterTrustBundle nor a signer of ours`,
  );
}

/** What `kubectl get -o yaml` prints for several. */
function itemsOf(
  object: Partial<KubeObject> & { readonly items?: unknown },
): readonly Partial<KubeObject>[] {
  const { kind = '', items } = object;
  return kind.endsWith('List') && Array.isArray(items)
    ? (items as Partial<KubeObject>[])
    : [object];
}

/** Undefined for a kind that is not ours to judge. */
function lintObject(object: Partial<KubeObject>, file: string): readonly LintFinding[] | undefined {
  const { kind = '', metadata } = object;
  const name = metadata?.name ?? '';
  const where = `${file} ${kind}/${name}`;
  const byApi = API_LINTS.get(kind);
  if (byApi !== undefined) {
    return byApi({ ...object, metadata: { ...metadata, name } } as KubeObject, where);
  }
  return KINDS_OF_OURS.has(kind) ? lintSigner(JSON.stringify(object), file, where) : undefined;
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
  const summary = `${count} linted: ${errors} errors, ${findings.length - errors} warnings`;
  return [...lines, summary, ''].join('\n');
}
