// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { encodePem } from '#pki/der/pem.ts';
import type { ChainParts } from './oracle.ts';

/** Major and minor, as in `3.0`: verdicts differ between them. */
export function opensslVersion(): string {
  const { stdout, error } = spawnSync('openssl', ['version'], { encoding: 'utf8' });
  if (error) throw new Error('the openssl command is needed: install the package of that name');
  return /^OpenSSL (\d+\.\d+)/.exec(stdout)?.[1] ?? stdout;
}

/** OpenSSL's verdicts; each is a process of its own, so they run a few at a time. */
export class Openssl implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'oracle-'));
  #files = 0;

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }

  /** Reads a request and verifies its signature. */
  async acceptsRequest(bytes: Uint8Array, form: 'DER' | 'PEM'): Promise<boolean> {
    const file = this.#write(bytes);
    const { code, said } = await run(['req', '-inform', form, '-in', file, '-noout', '-verify']);
    // Before 3.4 the command ends well although the signature does not verify.
    return code === 0 && said.includes('verify OK');
  }

  /**
   * `openssl verify -x509_strict`: any anchor ends a path, and no purpose is asked for, as ours.
   */
  async acceptsChain({ leaf, ...others }: ChainParts): Promise<boolean> {
    return (await this.acceptedLeaves([leaf], others))[0] === true;
  }

  /** Which of the leaves it accepts, each with the same others. */
  async acceptedLeaves(
    leaves: readonly Uint8Array[],
    { intermediates, roots, now }: Omit<ChainParts, 'leaf'>,
  ): Promise<readonly boolean[]> {
    const pem = (ders: readonly Uint8Array[]): string =>
      this.#write(Buffer.from(ders.map((der) => encodePem('CERTIFICATE', der)).join('')));
    const files = leaves.map((leaf) => pem([leaf]));
    const { said } = await run([
      'verify',
      '-x509_strict',
      '-partial_chain',
      '-attime',
      `${Math.floor(now / 1000)}`,
      '-no-CApath',
      '-no-CAstore',
      '-CAfile',
      pem(roots),
      ...(intermediates.length === 0 ? [] : ['-untrusted', pem(intermediates)]),
      ...files,
    ]);
    const accepted = new Set(said.split('\n'));
    return files.map((file) => accepted.has(`${file}: OK`));
  }

  /**
   * What `openssl verify` says of each leaf with one CRL, or with those that it fetches: `OK`, or
   * its error.
   */
  async verifiedWithList(
    leaves: readonly Uint8Array[],
    { roots, list, check, now }: ListParts,
  ): Promise<readonly string[]> {
    const pem = (label: 'CERTIFICATE' | 'X509 CRL', ders: readonly Uint8Array[]): string =>
      this.#write(Buffer.from(ders.map((der) => encodePem(label, der)).join('')));
    const anchors = pem('CERTIFICATE', roots);
    const lists = list === undefined ? ['-crl_download'] : ['-CRLfile', pem('X509 CRL', [list])];
    return Promise.all(
      leaves.map(async (leaf) => {
        const file = pem('CERTIFICATE', [leaf]);
        const { code, said } = await run([
          'verify',
          '-x509_strict',
          check,
          '-attime',
          `${Math.floor(now / 1000)}`,
          '-no-CApath',
          '-no-CAstore',
          '-CAfile',
          anchors,
          ...lists,
          file,
        ]);
        return code === 0 ? 'OK' : (/error \d+ at \d+ depth lookup: (.*)/.exec(said)?.[1] ?? said);
      }),
    );
  }

  /** `openssl crl -text` of a DER CRL. */
  async listText(der: Uint8Array): Promise<string> {
    const args = ['crl', '-inform', 'DER', '-in', this.#write(der), '-noout', '-text'];
    return (await run(args)).said;
  }

  /** `openssl x509 -text` of a DER certificate, without its signature. */
  certificateText(der: Uint8Array): Promise<string> {
    return this.#text('x509', der, ['-certopt', 'no_sigdump,no_signame']);
  }

  /** `openssl req -text` of a DER request, without its signature. */
  requestText(der: Uint8Array): Promise<string> {
    return this.#text('req', der, ['-reqopt', 'no_sigdump,no_signame']);
  }

  async #text(command: string, der: Uint8Array, options: readonly string[]): Promise<string> {
    const file = this.#write(der);
    const args = [command, '-inform', 'DER', '-in', file, '-noout', '-text', ...options];
    const { code, said } = await run(args);
    return code === 0 ? said : `refused: ${said}`;
  }

  #write(bytes: Uint8Array): string {
    this.#files += 1;
    const file = join(this.#directory, `${this.#files}`);
    writeFileSync(file, bytes);
    return file;
  }
}

/** A CRL and what it is verified with. */
export interface ListParts {
  readonly roots: readonly Uint8Array[];
  /** DER; undefined: each leaf's distribution point is asked for it. */
  readonly list: Uint8Array | undefined;
  readonly check: '-crl_check' | '-crl_check_all';
  /** Milliseconds. */
  readonly now: number;
}

/** It waits without end for a server that does not answer; each verdict takes milliseconds. */
const PATIENCE_MILLISECONDS = 60_000;

async function run(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const options = { timeout: PATIENCE_MILLISECONDS } as const;
  const child = spawn('openssl', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, said: out + err };
}

/** How many processes at a time. */
const AT_ONCE = 4;

/** `work` on each, a few at a time, in their order. */
export async function inTurns<T, R>(
  all: readonly T[],
  work: (each: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = all.entries();
  const worker = async (): Promise<void> => {
    for (const [index, each] of entries) results[index] = await work(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
