// SPDX-License-Identifier: Apache-2.0
import { SignerError, messageOf } from '#base/errors.ts';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import {
  judgeRenewal,
  renewableList,
  type Renewable,
  type RenewalVerdict,
  type Threshold,
} from '#diagnose/inspect/renewal.ts';
import type { Client } from '#kube/client/client.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { columns } from '#operations/show/columns.ts';
import { pkcs12Password } from '#cli/pkcs12-password.ts';
import { readSource } from '#cli/sources/read-source.ts';
import { printDocument, printProgress, printText, terminalWidth } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign needs-renewal`. */
export interface NeedsRenewalOptions extends UserOptions {
  readonly namespace: string;
  readonly expiresIn: Threshold;
  readonly bundle: boolean;
  readonly port?: number;
  readonly serverName?: string;
  readonly passwordFile?: string;
  readonly output: Output;
}

/** Exit codes of `step certificate needs-renewal`, so that its scripts work with this command. */
const EXIT_NEEDED = 0;
const EXIT_NOT_NEEDED = 1;
const EXIT_MISSING = 2;
const EXIT_OTHER = 255;

/**
 * Runs `countersign needs-renewal`. Every error has its own exit code, because 0 and 1 are answers.
 *
 * @returns the exit code
 */
export async function needsRenewal(
  sources: readonly string[],
  options: NeedsRenewalOptions,
): Promise<number> {
  let client: Client | undefined;
  const connect = async (): Promise<Client> =>
    (client ??= (await connectUser(options, 'needs-renewal')).client);
  try {
    const verdicts: RenewalVerdict[] = [];
    for (const text of sources) {
      const found = await renewablesOf(text, options, connect);
      const now = Date.now() - (client?.clockOffset() ?? 0);
      verdicts.push(...found.map((each) => judgeRenewal(each, options.expiresIn, now)));
    }
    print(verdicts, options.output);
    return verdicts.some((each) => each.needsRenewal) ? EXIT_NEEDED : EXIT_NOT_NEEDED;
  } catch (error) {
    printProgress(`countersign: ${messageOf(error)}`);
    const { code } = error instanceof SignerError ? error : { code: undefined };
    return code === 'USAGE' || code === 'KUBE_NOT_FOUND' ? EXIT_MISSING : EXIT_OTHER;
  } finally {
    await client?.close();
  }
}

/**
 * Returns the CRLs and the leaf of each chain, or all certificates with `--bundle`: a bundle of
 * anchors has no leaf.
 */
async function renewablesOf(
  text: string,
  { passwordFile, bundle, ...options }: NeedsRenewalOptions,
  connect: () => Promise<Client>,
): Promise<readonly Renewable[]> {
  const secrets = {
    pkcs12Password: (source: string) => pkcs12Password(passwordFile, source, process.env),
  };
  const { materials, notes } = await readSource(text, { ...options, connect });
  for (const note of notes) printProgress(`note: ${note}`);
  const all: Renewable[] = [];
  for (const each of materials) {
    const read = (await readMaterial(each, secrets)).map(({ what }) => what);
    const found = read.flatMap((what) => (what.kind === 'certificate' ? [what] : []));
    all.push(...read.flatMap((what) => (what.kind === 'crl' ? (renewableList(what) ?? []) : [])));
    const isLeaf = bundle || each.source.startsWith('ctb/');
    all.push(...(isLeaf ? found : found.slice(0, 1)));
  }
  if (all.length > 0) return all;
  throw new SignerError({
    code: 'KUBE_NOT_FOUND',
    disposition: 'wait',
    message: `${text} has no certificate and no CRL that ends`,
  });
}

function print(verdicts: readonly RenewalVerdict[], output: Output): void {
  if (output !== 'text') {
    printDocument(structuredText(verdicts, output));
    return;
  }
  const titles = ['NEEDS RENEWAL', 'ELAPSED', 'EXPIRES', 'SUBJECT', 'SOURCE'];
  const rows = verdicts.map((each) => [
    each.needsRenewal ? 'yes' : 'no',
    `${each.elapsedPercent}%`,
    each.notAfter,
    each.subject === '' ? '-' : each.subject,
    each.source,
  ]);
  printText([...columns([titles, ...rows], terminalWidth()), ''].join('\n'));
}
