// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import { decodePublicKey, type PublicKeyInfo } from '#pki/keys/public-key.ts';
import { decodeRequest, isEmptyStub, verifyRequest } from '#pki/x509/pkcs10.ts';
import type { KeyType } from '#base/vocabulary.ts';
import type { PodPlan } from './plan.ts';
import { verifyProofOfPossession } from '#pki/keys/signature-verification.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import * as messages from './messages.ts';

/** The API rejects longer ones (validation.go, ValidatePodCertificateRequestCreate). */
const MAX_STUB_BYTES = 10 * 1024;

type RequestedPodKey = PodPlan | { readonly kind: 'key'; readonly publicKey: PublicKeyInfo };

/**
 * Returns the public key of a request: that of the stub PKCS#10 request, or v1beta1's
 * pkixPublicKey. The stub must contain nothing else: the API server does not check its other
 * contents, so they are attacker-controlled.
 */
export function requestedKey(
  request: PodCertificateRequest,
  keyTypes: readonly KeyType[],
): RequestedPodKey {
  try {
    return readKey(request, keyTypes);
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    if (error.code === 'KEY_UNSUPPORTED' || error.code === 'KEY_WEAK') {
      return unsupported(error.message, keyTypes);
    }
    return { kind: 'fail', reason: 'MalformedRequest', message: messageOf(error) };
  }
}

function readKey(request: PodCertificateRequest, keyTypes: readonly KeyType[]): RequestedPodKey {
  const stub = request.spec.stubPKCS10Request ?? '';
  const pkix = request.spec.pkixPublicKey ?? '';
  if (stub !== '') return fromStub(stub, keyTypes);
  if (pkix === '') return { kind: 'wait', error: keyless() };
  const publicKey = decodePublicKey(Buffer.from(pkix, 'base64'));
  const proof = Buffer.from(request.spec.proofOfPossession ?? '', 'base64');
  verifyProofOfPossession(publicKey, Buffer.from(request.spec.podUID, 'ascii'), proof);
  return allowed(publicKey, keyTypes);
}

/** Reports whether the request has a key. That of an old kubelet, read through v1, has none. */
export function hasKey({ spec }: PodCertificateRequest): boolean {
  // v1beta1 writes null for the unset one of the two instead of omitting it.
  return (spec.stubPKCS10Request ?? '') !== '' || (spec.pkixPublicKey ?? '') !== '';
}

function keyless(): SignerError {
  return new SignerError({
    code: 'REQUEST_MALFORMED',
    disposition: 'wait',
    message: messages.KEYLESS_REQUEST,
  });
}

function fromStub(stub: string, keyTypes: readonly KeyType[]): RequestedPodKey {
  const der = Buffer.from(stub, 'base64');
  if (der.length > MAX_STUB_BYTES) {
    const message = messages.stubTooLong(der.length, MAX_STUB_BYTES);
    return { kind: 'fail', reason: 'MalformedRequest', message };
  }
  const decoded = decodeRequest(der);
  if (!isEmptyStub(decoded)) {
    return {
      kind: 'deny',
      reason: 'NonEmptyStubRequest',
      message: messages.NON_EMPTY_STUB,
    };
  }
  const found = allowed(decoded.publicKey, keyTypes);
  if (found.kind === 'key') verifyRequest(decoded);
  return found;
}

function allowed(publicKey: PublicKeyInfo, keyTypes: readonly KeyType[]): RequestedPodKey {
  const { keyType } = publicKey;
  if (keyType === undefined || !keyTypes.includes(keyType)) {
    return unsupported(
      messages.keyNotAllowed(keyType, publicKey.algorithm, publicKey.bits),
      keyTypes,
    );
  }
  checkKey(publicKey);
  return { kind: 'key', publicKey };
}

function unsupported(message: string, keyTypes: readonly KeyType[]): PodPlan {
  return {
    kind: 'deny',
    reason: 'UnsupportedKeyType',
    message: messages.unsupportedKey(
      message,
      keyTypes.filter((type) => type !== 'RSA2048').join(', '),
    ),
  };
}
