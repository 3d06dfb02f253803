// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import { judgeRenewal, type Threshold } from '#diagnose/inspect/renewal.ts';
import { usageError } from '#base/errors.ts';
import { printProgress } from '#cli/terminal.ts';

/** Threshold of `needs-renewal`. A third of the lifetime remains for retries. */
const THRESHOLD: Threshold = { elapsedPercent: 66 };

/**
 * Reports whether a new request is due: the file has no certificate, or it has passed two thirds of
 * its lifetime.
 *
 * @param now - milliseconds since 1970
 * @throws SignerError USAGE (`fail`) for a file with other content, which is not replaced
 */
export async function isDue(
  { out }: { readonly out: string },
  file: string,
  now: number = Date.now(),
): Promise<boolean> {
  const bytes = await readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return true;
  const found = await readMaterial(
    { source: file, bytes },
    { pkcs12Password: () => Promise.reject(usageError(`${file} is PKCS#12; name another --out`)) },
  );
  const [leaf] = found.flatMap(({ what }) => (what.kind === 'certificate' ? [what] : []));
  if (leaf === undefined) {
    throw usageError(
      `${file} holds no certificate to renew; move it away, or choose another --out than ${out}`,
    );
  }
  const { needsRenewal, elapsedPercent, notAfter } = judgeRenewal(leaf, THRESHOLD, now);
  if (!needsRenewal)
    printProgress(
      `${file} has passed ${elapsedPercent}% of its life and is valid until ${notAfter}: nothing to renew`,
    );
  return needsRenewal;
}
