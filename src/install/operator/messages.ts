// SPDX-License-Identifier: Apache-2.0
/** Texts of the operator, by where users read them. */
import { quote, printable, quoteList } from '#base/quote.ts';
import { OPERATOR_RBAC_FLAGS } from './flags.ts';

/** Fix for a setting that the operator refuses as dangerous. */
const ALLOW_DANGER_ZONE = 'an administrator adds --allow-danger-zone to the operator’s flags';

// Condition of the object: why its spec is refused

export function unsupportedVersion(patches: string, version: string): string {
  return `spec.version: this operator installs ${patches}, and not ${quote(version, 64)}`;
}

export function imageNotAllowed(reference: string): string {
  return `spec.image.reference: the repository of ${quote(reference, 256)} is not allowed, because the image can read CA keys; an administrator adds it to the operator's flags as --allow-image`;
}

export const DANGER_ZONE_NOT_ALLOWED = `spec.dangerZone: it is not allowed; ${ALLOW_DANGER_ZONE}`;

export const DEFAULT_ARGUMENTS_NOT_ALLOWED =
  'spec.defaults.extraArgs: the components have different flags; write them under spec.components';

export function unknownFlags(version: string, flags: string, component: string): string {
  return `version ${version} does not know ${flags}; see countersign ${printable(component)} --help, or use spec.dangerZone`;
}

export function noSuchComponent(at: string): string {
  return `${at}: there is no such component`;
}

export function notAFlag(argument: string): string {
  return `${argument} is not --flag or --flag=value`;
}

export function setByInstallation(flag: string): string {
  return `${flag} is set by the installation`;
}

export function valueMissing(flag: string): string {
  return `write ${flag}=<value>`;
}

export function valueNotTaken(flag: string): string {
  return `${flag} takes no value`;
}

export function dangerousArguments(at: string, flags: readonly string[]): string {
  return `${at}: ${quoteList(flags)} may be in spec.dangerZone.extraArgs only, which an administrator allows by the operator’s flag --allow-danger-zone: by such a flag the writer of a spec decides whom a component calls or trusts, or what it reads`;
}

export function solverUnnamed(index: number, text: string, group: string): string {
  return `spec.acme.dnsWebhooks[${index}]: ${quote(text, 256)} names no solver; write ${quote(`${group}/<solverName>`, 256)}: the operator’s permissions have no wildcard`;
}

export function dangerousAcme(member: string): string {
  return `spec.acme.${member}: it decides whom components call, which names are proved, or what Ingress controllers do, for the writers of ACME signers; ${ALLOW_DANGER_ZONE}`;
}

export function dangerousKeyHolder(component: string): string {
  return `spec.components.${quote(component, 64)}.keyHolder: it decides what the keys of CAs may sign, and which Secrets have them; ${ALLOW_DANGER_ZONE}`;
}

export const SVID_SIGNER_NOT_ALLOWED = `spec.bundleEndpoint.svidSigner: it decides the identity of the bundle endpoint for other trust domains; ${ALLOW_DANGER_ZONE}`;

export const VALUE_ONLY = 'may have a value only, and no source';

export function unknownVariable(allowed: string): string {
  return `is not allowed: another variable could load code into a component, or change whom it calls or trusts; these are allowed: ${allowed}`;
}

export const DANGEROUS_VARIABLE = `chooses whom a component calls or trusts; ${ALLOW_DANGER_ZONE}`;

export function dangerousLedger(member: string, cause: string): string {
  return `spec.ledger.${member}: ${cause}; ${ALLOW_DANGER_ZONE}`;
}

export const AGGREGATED_API_DANGER =
  'while the ledger is away, no namespace of the cluster is deleted';

export const RECORDING_DANGER =
  'it decides whether, where and for how long it is recorded who has a certificate';

export function reservedKey(domain: string): string {
  return `is of ${domain}, whose keys decide what controllers do; write one of a domain of your own`;
}

export function injectorKey(domain: string): string {
  return `is of ${domain}, by which a webhook puts containers or code into pods that hold keys; ${ALLOW_DANGER_ZONE}, or leave it out (to keep the webhook away, the key of that name may be "false" or "disabled")`;
}

export function reservedPriority(at: string, name: string): string {
  return `${at}.priorityClassName: ${quote(name, 128)} is of Kubernetes’ own, and evicts other workloads; name a PriorityClass of yours, or ${ALLOW_DANGER_ZONE}`;
}

// Condition of the object: what the operator lacks

export const REMEDY = `apply what countersign rbac --operator prints for this Countersign with the flags of the first time (${OPERATOR_RBAC_FLAGS}): the output also has the Deployment of the operator`;

// Manifests

export const DESCRIPTION =
  'Installs and heals Countersign. A user who may change it can read CA keys.';
