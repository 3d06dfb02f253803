// SPDX-License-Identifier: Apache-2.0
import { findCondition, type Condition } from '#api/request/conditions.ts';
import { secretOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  HOLDER_KEY_WRONG,
  HOLDER_REFUSED,
  HOLDER_TOKEN_UNAVAILABLE,
  HOLDER_UNAVAILABLE,
  KEY_LOST,
  NOT_SERVED,
} from '#api/serving/report.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { shellWord } from '#base/quote.ts';
import { LOST_KEY_REMEDY } from './lost-key.ts';

/** The command for each reason of Ready=False that a command ends. */
const REMEDIES: ReadonlyMap<string, (signer: ClusterSigner) => string> = new Map([
  ['SecretNotGranted', consentCommand],
  ['SecretNotFound', createCommand],
  [
    'InvalidSpec',
    (signer) => `kubectl edit ${wordsOf(signer)}   # correct the field that is named`,
  ],
  [
    'SignerNameTaken',
    (signer) =>
      `kubectl delete ${wordsOf(signer)}   # the newer one; create it again with another spec.signerName`,
  ],
  ['AwaitingCertificate', certificateCommand],
  [KEY_LOST, () => LOST_KEY_REMEDY],
]);

/** The command for a CA whose certificate the upstream CA must sign. */
function certificateCommand(signer: ClusterSigner): string {
  const { metadata, spec, status } = signer;
  const { manual, csr, vault } = spec.authority.managed?.upstream ?? {};
  if (csr !== undefined) {
    return `countersign authority show ${shellWord(metadata.name)}   # AwaitingCertificate has the answer of the hub for cluster ${csr.cluster}`;
  }
  if (vault !== undefined) {
    return `kubectl describe ${wordsOf(signer)}   # the condition has the answer of Vault; a change of upstream.vault has it called at once`;
  }
  const request = status?.upstream?.certificateRequest;
  if (manual === undefined && request !== undefined) return describeCommand(request);
  return `countersign authority csr ${shellWord(metadata.name)}   # have it signed, then: countersign authority install`;
}

/** @param request - `<namespace>/<name>` */
function describeCommand(request: string): string {
  const [namespace = '', name = ''] = request.split('/');
  return `kubectl describe certificaterequest ${shellWord(name)} -n ${shellWord(namespace)}   # delete it for a new attempt`;
}

/**
 * The command that makes a signer Ready; undefined where no command does, as where it waits for its
 * anchor.
 */
export function remedyCommand(signer: ClusterSigner): string | undefined {
  const ready = findCondition(signer.status?.conditions, 'Ready');
  if (ready?.status === 'True') return undefined;
  if (ready?.reason === NOT_SERVED) {
    return holderRemedy(signer, findCondition(signer.status?.conditions, 'Served'));
  }
  return REMEDIES.get(ready?.reason ?? '')?.(signer);
}

/**
 * Returns the command for a fault of a key holder that a condition shows. Undefined for other
 * conditions.
 */
export function holderRemedy(
  signer: ClusterSigner,
  condition: Pick<Condition, 'reason' | 'message'> | undefined,
): string | undefined {
  const { reason, message = '' } = condition ?? {};
  if (reason === HOLDER_UNAVAILABLE || reason === HOLDER_TOKEN_UNAVAILABLE) {
    const [, component = '<component>'] = /deployment\/countersign-([a-z-]+)/.exec(message) ?? [];
    const why =
      reason === HOLDER_UNAVAILABLE
        ? 'why the holder does not answer'
        : 'what its token answers; with a wrong PIN, correct the Secret';
    return `kubectl logs -n countersign-system deployment/countersign-${component} -c key-holder   # ${why}`;
  }
  if (reason === HOLDER_KEY_WRONG) {
    return `kubectl edit ${wordsOf(signer)}   # name a key of the holder that is the key of the chain, and whose signerNames list the signer name`;
  }
  if (reason !== HOLDER_REFUSED) return undefined;
  return `kubectl edit ${wordsOf(signer)}   # allow no more than the limits of the key holder, or widen its limits`;
}

/**
 * Returns the command by which the owner of the CA Secret consents. It fails if the Secret is
 * granted to another signer, which would lose its CA.
 */
function consentCommand(signer: ClusterSigner): string {
  const { namespace, name } = secretOf(signer.spec);
  const grant = shellWord(`${SIGNER_NAME}=${signer.spec.signerName}`);
  return `kubectl annotate secret ${name} -n ${namespace} ${grant}   # the consent of its owner; if it names another signer, use a Secret of its own: this one serves one signer`;
}

/** Creates the CA Secret from files, and consents: its author is its owner. */
function createCommand(signer: ClusterSigner): string {
  const { namespace, name } = secretOf(signer.spec);
  const secret = `${shellWord(name)} -n ${shellWord(namespace)}`;
  const grant = shellWord(`${SIGNER_NAME}=${signer.spec.signerName}`);
  return `kubectl create secret tls ${secret} --cert=ca.crt --key=ca.key && kubectl annotate secret ${secret} ${grant}`;
}

/** As kubectl takes it. */
function wordsOf({ kind, metadata }: ClusterSigner): string {
  const words = `${kind.toLowerCase()} ${shellWord(metadata.name)}`;
  return metadata.namespace === undefined ? words : `${words} -n ${shellWord(metadata.namespace)}`;
}
