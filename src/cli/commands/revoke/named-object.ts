// SPDX-License-Identifier: Apache-2.0
/** Selects the certificate of an object that a user names. */
import { SignerError, attempt, usageError } from '#base/errors.ts';
import { serialText } from '#ca/revocation/serial.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { kindNamed, NAMED_KINDS, type KindName } from '#diagnose/kinds.ts';
import type { Client } from '#kube/client/client.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { readerOf } from '#cli/sources/cluster-objects.ts';
import { subjectOf, withNamespaceHint } from '#cli/subject.ts';

/** Kinds whose certificates `countersign revoke` finds. */
const REVOCABLE = ['order', 'pod', 'csr', 'pcr', 'certificaterequest'] as const;

/** An object whose certificates are revoked. */
export interface RevocableObject extends Subject {
  readonly kind: (typeof REVOCABLE)[number];
}

/** Flags that select the certificates of an object. */
export type ObjectSelection =
  { readonly pod: string } | { readonly serial: readonly string[]; readonly signer?: string };

/**
 * Parses the argument of `countersign revoke`.
 *
 * @param text - `kind/name`, or the name of an Order
 * @throws SignerError USAGE for another kind, or without the namespace that the kind needs
 */
export function revocableObject(text: string, namespace: string | undefined): RevocableObject {
  const { kind: word, name } = subjectOf(text.includes('/') ? text : `order/${text}`, '');
  const kind = kindNamed(word);
  if (kind === undefined || !isRevocable(kind)) {
    const kinds = REVOCABLE.map((each) => `${each}/NAME`).join(', ');
    throw usageError(
      `"${text.slice(0, 80)}" names no certificate: write one of ${kinds}, or select by --user, --serial, --pod, --ca or --san`,
    );
  }
  if (NAMED_KINDS[kind].isNamespaced && namespace === undefined) {
    throw usageError(`${kind}/${name} is in a namespace: write -n NAMESPACE`);
  }
  return { kind, name, namespace: namespace ?? '' };
}

function isRevocable(kind: KindName): kind is RevocableObject['kind'] {
  return REVOCABLE.some((each) => each === kind);
}

/**
 * Returns the flags that select the certificates of an object: all of a pod, or the one in the
 * status of a request.
 *
 * @throws KubeError, or SignerError USAGE for a request without a certificate
 */
export async function selectionOfObject(
  client: Client,
  subject: RevocableObject,
): Promise<ObjectSelection> {
  const { kind, name, namespace } = subject;
  if (kind === 'pod') return { pod: `${namespace}/${name}` };
  const read = readerOf(kind);
  if (read === undefined) throw usageError(`${kind}/${name} holds no certificate`);
  const { materials, notes } = await read(client, subject).catch(async (error: unknown) => {
    throw await withNamespaceHint(error, subject, client);
  });
  const issued = materials.find(({ source }) => source.includes(' status.certificate'));
  if (issued === undefined) throw usageError(notes.join('; '));
  const chain = attempt(() => readCertificates(Buffer.from(issued.bytes).toString('latin1')));
  const leaf = chain instanceof SignerError ? undefined : chain[0];
  if (leaf === undefined) throw usageError(`${issued.source} is not readable: select by --serial`);
  const { signer } = issued;
  return { serial: [serialText(leaf.serial)], ...(signer === undefined ? {} : { signer }) };
}
