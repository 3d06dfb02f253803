// SPDX-License-Identifier: Apache-2.0
import type { AnchorChoice, ManualUpstream } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { isRefusal, judgeChain } from '#ca/upstream/judge-chain.ts';
import { readChain, rootOf } from '#ca/upstream/read-chain.ts';
import { chainWarnings } from '#ca/upstream/warnings.ts';
import { wantedCaOf } from '#ca/upstream/wanted-ca.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';
import { managedAuthorityOf, notObserved } from '../preflight.ts';
import { impossible, type ChangePlan } from '../change-plan.ts';
import { authoritiesOf, fingerprintsOf, type SignerState } from '../signer-state.ts';

/** A chain as the user passes it. */
export interface GivenChain {
  /** PEM. Text around the certificates is ignored. */
  readonly text: string;
  /** Fingerprint of the root, from a source other than the chain. */
  readonly rootFingerprint?: string;
  /** Absent: as the spec has it. */
  readonly anchor?: AnchorChoice;
  readonly trustEverythingBelow: boolean;
}

/**
 * Plans `install`, which writes the chain of an upstream CA into the spec. It makes the checks that
 * the authority component repeats.
 */
export function install(state: SignerState, given: GivenChain): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const { name } = state.signer.metadata;
  if (managed.upstream?.manual === undefined) {
    return impossible(
      managed.upstream === undefined
        ? `${name} signs its own CA certificates: set spec.authority.managed.upstream.manual first`
        : `the authority component requests the certificate of ${name} itself: its upstream is not manual`,
    );
  }
  const request = requestOf(state);
  if (request === undefined) {
    return impossible(
      `no certificate is awaited; countersign authority prepare ${name} makes the authority component create a request`,
    );
  }
  return planChain(state, given, request);
}

/** Plans the write of a chain for this request. */
function planChain(
  state: SignerState,
  given: GivenChain,
  request: ReturnType<typeof decodeRequest>,
): ChangePlan {
  const { signer, now } = state;
  const { name } = signer.metadata;
  const blocks = certificateBlocks(given.text);
  const chain = blocks.map((der) => encodePem('CERTIFICATE', der)).join('');
  const path = readChain(chain);
  if ('reason' in path) return impossible(path.message);
  const root = fingerprint(rootOf(path).raw);
  const rootFingerprint = given.rootFingerprint ?? knownRoot(state, root);
  if (rootFingerprint === undefined) {
    return impossible(
      `the root ${root} is not known to ${name}: compare it with a source other than the chain, then add --root-fingerprint ${root}`,
    );
  }
  const manual = { chain, rootFingerprint, ...choicesOf(given) };
  const wanted = wantedCaOf(signer, manual);
  if (wanted === undefined) return impossible('the spec has no manual upstream');
  const judged = judgeChain({ chain, request, wanted, now });
  if (isRefusal(judged)) return impossible(`${judged.reason}: ${judged.message}`);
  return {
    target: fingerprint(path[0].raw),
    change: { upstream: manual },
    preflightErrors: [...notObserved(state)],
    notes: [
      ...chainWarnings(judged, wantedEnd(state)),
      `the authority component publishes the anchor, and the CA signs when every verifier has it; countersign authority show ${name} prints when`,
    ],
  };
}

/** Returns the end in milliseconds of a CA that lives as long as the spec asks for. */
function wantedEnd({ signer, now }: SignerState): number {
  const { duration = '0s' } = signer.spec.authority.managed ?? {};
  return now + parseDuration(duration) * 1000;
}

/** Returns the fields that the user set by flags. The others stay as they are in the spec. */
function choicesOf({ anchor, trustEverythingBelow }: GivenChain): Partial<ManualUpstream> {
  return {
    ...(anchor === undefined ? {} : { anchor }),
    ...(trustEverythingBelow ? { trustEverythingBelow } : {}),
  };
}

/** Returns the request in the status. Undefined if none is there, or if it cannot be read. */
function requestOf({ signer }: SignerState): ReturnType<typeof decodeRequest> | undefined {
  const { request } = signer.status?.upstream ?? {};
  if (request === undefined) return undefined;
  const read = attempt(() => decodeRequest(decodePem(request, 'CERTIFICATE REQUEST')));
  return read instanceof SignerError ? undefined : read;
}

/** Returns the root if it is an anchor of this signer, or that of its previous chain. */
function knownRoot(state: SignerState, root: string): string | undefined {
  const manual: ManualUpstream | undefined = state.signer.spec.authority.managed?.upstream?.manual;
  const isAnchor = authoritiesOf(state)
    .filter(({ phase }) => phase !== 'Distrusted')
    .some((each) => fingerprintsOf(each).includes(root));
  return isAnchor || manual?.rootFingerprint === root ? root : undefined;
}
