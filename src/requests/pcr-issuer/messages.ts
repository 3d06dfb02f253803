// SPDX-License-Identifier: Apache-2.0
/** Texts of the pcr-issuer, by where users read them. */
import { MAX_SELECTOR_CHARACTERS, MAX_SELECTOR_LABELS } from '#api/object/service.ts';
import { formatTime } from '#api/object/time.ts';
import { quote } from '#base/quote.ts';
import { MAX_POD_SERVICES } from '#base/vocabulary.ts';

// Events of refused requests

export function refused(cause: string, loss: string): string {
  return `${cause}; ${loss}once that is fixed, delete the pod: its kubelet does not repeat the request`;
}

export function lostRenewal(left: string, expiresAt: number): string {
  return `this was a renewal: the pod's certificate expires in ${left}, at ${formatTime(expiresAt)}; `;
}

export function podNotAllowed(
  signerName: string,
  namespace: string | undefined,
  pod: string,
  serviceAccount: string,
): string {
  return `spec.pods.allow of signer ${signerName} does not allow pod ${namespace ?? ''}/${pod} (ServiceAccount ${serviceAccount})`;
}

export const KEYLESS_REQUEST =
  'the request has no key that this API server shows: an older kubelet wrote it through certificates.k8s.io/v1beta1. Upgrade the kubelet of the node, and delete the pod';

export function stubTooLong(bytes: number, max: number): string {
  return `the stub PKCS#10 request has ${bytes} bytes, more than ${max}`;
}

export const NON_EMPTY_STUB =
  'the stub PKCS#10 request has a subject or attributes; a pod’s names come from the signer alone';

export function keyNotAllowed(
  keyType: string | undefined,
  algorithm: string,
  bits: number,
): string {
  return `${keyType ?? `${algorithm} with ${bits} bits`} is not allowed`;
}

export function uselessKey(algorithm: string, usages: readonly string[]): string {
  return `this signer allows only ${usages.join(', ')}, which no key of ${algorithm} can have; request another key type, or add usages to spec.profile.usages of the signer`;
}

export function unsupportedKey(fault: string, keyTypes: string): string {
  return `${fault}; key types that work: ${keyTypes}`;
}

export function invalidAnnotations(faults: readonly string[], known: readonly string[]): string {
  return `${faults.join('; ')}; known: ${known.length === 0 ? 'none' : known.join(', ')}`;
}

export function invalidValue(key: string, value: string): string {
  return `${quote(key)} may not have the value ${quote(value)}`;
}

export function unknownAnnotation(key: string): string {
  return `${quote(key)} is not an annotation of this signer`;
}

export function moreAnnotations(count: number): string {
  return `and ${count} more`;
}

export function annotationMissing(annotation: string | undefined): string {
  return `${annotation ?? ''} is missing; name the Service in it`;
}

export function notAServiceName(annotation: string | undefined, value: string): string {
  return `${annotation ?? ''} may not have the value ${quote(value)}, which is not the name of a Service`;
}

// Events of requests that wait for the pod or its Services

export function podNotFound(pod: string, identity: string): string {
  return `there is no pod ${pod} with ${identity}; its names cannot be proven`;
}

export function podIdentity(uid: string): string {
  return `UID ${uid}, this node and this ServiceAccount`;
}

export function notAPodAddress(address: string, pod: string): string {
  return `the kubelet reports ${quote(address)} for pod ${pod}, which is not a pod address`;
}

export function addressUnknown(pod: string): string {
  return `the kubelet has not reported the address of pod ${pod} yet, which uses the network of its node`;
}

export const SERVICES_NOT_LISTED = 'the Services of the cluster are not listed yet';

export function serviceNotFound(service: string, advice: string): string {
  return `Service ${service} does not exist; ${advice}`;
}

export const CREATE_OR_CORRECT =
  'create it, or correct the annotation of the volume and delete the pod';

export function tooManyServices(count: number, pod: string): string {
  return `${count} Services select pod ${pod}, more than the ${MAX_POD_SERVICES} that a leaf may name; let fewer Services select the pod, or have the owner of the signer set spec.pods.services.select: FromAnnotation, and name the Services in the annotation of the volume`;
}

export function notSelected(namespace: string | undefined, pod: string): string {
  return `no Service of namespace ${namespace ?? ''} selects pod ${pod}; correct the selector of a Service or the labels of the pod`;
}

export function serviceText(service: string): string {
  return `Service ${service}`;
}

export function serviceDeleted(service: string): string {
  return `${service} is being deleted`;
}

export function externalName(service: string): string {
  return `${service} is an alias (ExternalName), which selects no pod; name a Service with a selector`;
}

export function withoutSelector(service: string): string {
  return `${service} has no selector of 1 to ${MAX_SELECTOR_LABELS} labels with at most ${MAX_SELECTOR_CHARACTERS} characters, so its endpoints belong to no known pods; name a Service with one`;
}

export function otherLabels(service: string, pod: string, key: string, value: string): string {
  return `${service} does not select pod ${pod}, which lacks the label ${quote(key)} with the value ${quote(value)}; correct the selector or the label`;
}

// Events of issued certificates

export function namesLost(services: readonly string[]): string {
  return `the renewed certificate no longer has the names of ${services.join(', ')}: deleted, or no longer selecting the pod`;
}

export function namesOutdated(service: string, cause: string, until: string): string {
  return `the certificate has the names of Service ${service}, which ${cause}; it is valid until ${until}, and its renewal will not have them`;
}

export const GONE_OR_NOT_SELECTING = 'is gone, or no longer selects the pod';
export const DELETED = 'was deleted';
export const NOT_SELECTING = 'no longer selects the pod';

// Log: requests that are decided again

export function podChanged(cause: string): string {
  return `${cause} since its certificate was signed; that one is dropped, and the request is decided again`;
}

export const POD_GONE = 'the pod is gone';
export const LABEL_CHANGED = 'a label of the pod has another value';
export const ADDRESS_CHANGED = 'the pod has another address';

export function serviceGone(name: string): string {
  return `Service ${name} is gone`;
}

export function serviceNotSelecting(name: string): string {
  return `Service ${name} does not select the pod`;
}

export function serviceOfOtherKind(name: string): string {
  return `Service ${name} is of another kind`;
}

// /readyz

export function servicesUnlisted(failure: string): string {
  return `Services: ${failure}`;
}

export function shortServiceNames(kind: string, name: string, forms: readonly string[]): string {
  return `${kind} ${name} puts short names of Services into leaves (spec.pods.services.forms: ${forms.join(', ')}): a pod of another namespace, or a host on the Internet, can have the same name`;
}
