// SPDX-License-Identifier: Apache-2.0
import type { Order } from '#api/acme/order.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';

/** Returns the certificate of an Order that has one. */
export function leafOf({ status: { state, certificate } }: Order): Certificate | undefined {
  if (state !== 'valid' || certificate === undefined) return undefined;
  const read = attempt(() => readCertificates(certificate));
  return read instanceof SignerError ? undefined : read[0];
}
