// SPDX-License-Identifier: Apache-2.0
/** The protocol between a key holder and its clients: HTTP/2 over a Unix socket. */

/** The `apiVersion` and `kind` of a holder's configuration. */
export const HOLDER_API_VERSION = 'key-holder.countersign.dev/v1alpha1';
export const HOLDER_KIND = 'KeyHolder';

/** Documents that a key signs over a socket: leaves, or CRLs. */
const HOLDER_PURPOSES = ['leaf', 'crl'] as const;

export type HolderPurpose = (typeof HOLDER_PURPOSES)[number];

/** The last part of the path to which the to-be-signed bytes are sent. */
const DOCUMENTS: Readonly<Record<HolderPurpose, string>> = { leaf: 'certificates', crl: 'lists' };

/** Names of keys, which are parts of paths. */
export const KEY_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A path that each socket answers, with an error, whatever its keys are. */
export const PROBE_PATH = '/v1/keys';

/** Returns the path of a key. `GET` returns its {@link KeyDescription}. */
export function keyPath(key: string): string {
  return `/v1/keys/${key}`;
}

/** Returns the path to which a TBSCertificate or a TBSCertList is sent. */
export function signPath(key: string, purpose: HolderPurpose): string {
  return `${keyPath(key)}/${DOCUMENTS[purpose]}`;
}

/** A path of the protocol. `purpose` is undefined for the key itself. */
export interface HolderPath {
  readonly key: string;
  readonly purpose: HolderPurpose | undefined;
}

/** Returns the parts of a path, or undefined if the protocol has no such path. */
export function readPath(path: string): HolderPath | undefined {
  const [, version, keys, key = '', document, ...more] = path.split('/');
  if (version !== 'v1' || keys !== 'keys' || !KEY_NAME.test(key) || more.length > 0) {
    return undefined;
  }
  const purpose = HOLDER_PURPOSES.find((each) => DOCUMENTS[each] === document);
  return document !== undefined && purpose === undefined ? undefined : { key, purpose };
}

/** The public facts of a key, as JSON. */
export interface KeyDescription {
  /** DER SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  /** DER AlgorithmIdentifier of its signatures in base64. */
  readonly algorithm: string;
  /** The signer names that may use it, by the consent of its owner. */
  readonly signerNames: readonly string[];
  /** End of the CA's certificate, in milliseconds since 1970. */
  readonly notAfter: number;
  /** Documents that this socket signs with it. */
  readonly purposes: readonly HolderPurpose[];
}

/** The limit of a TBSCertificate in bytes: that of a leaf's status in the API server. */
export const MAX_LEAF_BYTES = 64 * 1024;
/** The limit of a TBSCertList in bytes: the size of a ConfigMap. */
export const MAX_CRL_BYTES = 1024 * 1024;
/** The limit of an answer in bytes. The signature of ML-DSA-65 has 3,309. */
export const MAX_SIGNATURE_ANSWER_BYTES = 64 * 1024;

/** The reason of an answer 503: the token of the key cannot be used now. */
export const TOKEN_UNAVAILABLE = 'token';

/** The reason that a holder did not sign, as JSON. */
export interface SigningRefusal {
  /** The name of the first rule that the document breaks. */
  readonly reason: string;
  /** Every broken rule. It has no part of a key. */
  readonly message: string;
}
