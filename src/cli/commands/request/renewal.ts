// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import { judgeRenewal, type Threshold } from '#diagnose/inspect/renewal.ts';
import { usageError } from '#base/errors.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { printProgress } from '#cli/terminal.ts';

/** Paths of the files of one certificate. */
export interface CertificateFiles {
  readonly key: string;
  readonly certificate: string;
  /** Absent where no API server takes the certificate: it is not for client authentication. */
  readonly kubeconfig?: string;
  readonly pkcs12?: string;
}

/** Threshold of `needs-renewal`. A third of the lifetime remains for retries. */
const THRESHOLD: Threshold = { elapsedPercent: 66 };

/**
 * Reports whether a new request is due: the certificate is absent, it has passed two thirds of its
 * lifetime, or another file does not belong to it.
 *
 * @param now - milliseconds since 1970
 * @throws SignerError USAGE (`fail`) for a file with other content, which is not replaced
 */
export async function isDue(files: CertificateFiles, now: number = Date.now()): Promise<boolean> {
  const file = files.certificate;
  const bytes = await readIfPresent(file);
  if (bytes === undefined) return true;
  const found = await readMaterial(
    { source: file, bytes },
    { pkcs12Password: () => Promise.reject(usageError(`${file} is PKCS#12; name another --out`)) },
  );
  const [leaf] = found.flatMap(({ what }) => (what.kind === 'certificate' ? [what] : []));
  if (leaf === undefined) {
    throw usageError(
      `${file} holds no certificate to renew; move it away, or choose another directory by --out`,
    );
  }
  const { needsRenewal, elapsedPercent, notAfter } = judgeRenewal(leaf, THRESHOLD, now);
  if (needsRenewal) return true;
  const mismatch = await mismatchOf(files, bytes);
  printProgress(
    mismatch === undefined
      ? `${file} has passed ${elapsedPercent}% of its life and is valid until ${notAfter}: nothing to renew`
      : `${mismatch}: a new certificate replaces all files`,
  );
  return mismatch !== undefined;
}

/**
 * Returns why the files are not those of one certificate, such as after an interrupted run. A
 * renewal replaces the PKCS#12 file before the certificate, so it is never older.
 */
async function mismatchOf(
  { key, certificate, kubeconfig, pkcs12 }: CertificateFiles,
  bytes: Buffer,
): Promise<string | undefined> {
  if (!isKeyOf(await readIfPresent(key), bytes)) return `${key} is not the key of ${certificate}`;
  if (kubeconfig !== undefined) {
    const config = await readIfPresent(kubeconfig);
    if (config?.includes(bytes.toString('base64')) !== true)
      return `${kubeconfig} does not hold the certificate of ${certificate}`;
  }
  if (pkcs12 === undefined || (await readIfPresent(pkcs12)) !== undefined) return undefined;
  return `${pkcs12} is absent`;
}

function isKeyOf(key: Buffer | undefined, certificate: Buffer): boolean {
  if (key === undefined) return false;
  try {
    return new X509Certificate(certificate).checkPrivateKey(readPrivateKey(key.toString()));
  } catch {
    return false;
  }
}

async function readIfPresent(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}
