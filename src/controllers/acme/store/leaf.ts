// SPDX-License-Identifier: Apache-2.0
import type { Order } from '../../../api/acme/index.ts';
import { attempt, SignerError } from '../../../errors.ts';
import { readCertificates, type Certificate } from '../../../pki/x509/certificate.ts';

/** The certificate of an Order that has one. */
export function leafOf({ status: { state, certificate } }: Order): Certificate | undefined {
  if (state !== 'valid' || certificate === undefined) return undefined;
  const read = attempt(() => readCertificates(certificate));
  return read instanceof SignerError ? undefined : read[0];
}
