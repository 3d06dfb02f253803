// SPDX-License-Identifier: Apache-2.0
import { byAge } from '#api/object/object.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';

/**
 * Returns the latest CertificateSigningRequest for a common name. People know the name that they
 * requested, but not the name of the object.
 *
 * @returns undefined if there is none, or the user may not list them
 */
export async function requestNamed(
  client: Client,
  commonName: string,
): Promise<CertificateSigningRequest | undefined> {
  const found = await listReadable<CertificateSigningRequest>(client, resource(CSR_RESOURCE), {
    keep: (csr) => commonNameOf(csr) === commonName,
  });
  return found.toSorted(byAge).at(-1);
}

function commonNameOf({ spec }: CertificateSigningRequest): string | undefined {
  const names = attempt(() => {
    const pem = Buffer.from(spec.request, 'base64').toString('latin1');
    const [der] = decodePemAll(pem, 'CERTIFICATE REQUEST');
    return der === undefined ? undefined : requestedNames(decodeRequest(der)).commonName;
  });
  return names instanceof SignerError ? undefined : names;
}
