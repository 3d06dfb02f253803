// SPDX-License-Identifier: Apache-2.0
import { acme } from '#acme/acme/component.ts';
import { acmeResponder } from '#acme/acme-responder/component.ts';
import { acmeSolver } from '#acme/acme-solver/component.ts';
import { ledger } from '#ledger/ledger/component.ts';
import { notifier } from '#notify/notifier/component.ts';
import { approver } from '#requests/approver/component.ts';
import { externalSigner } from '#requests/external-signer/component.ts';
import { certificateRequest } from '#requests/certificate-request/component.ts';
import { pcrIssuer } from '#requests/pcr-issuer/component.ts';
import { signer } from '#requests/signer/component.ts';
import { attester } from '#trust/attester/component.ts';
import { authority } from '#trust/authority/component.ts';
import { bundleEndpoint } from '#trust/bundle-endpoint/component.ts';
import { federation } from '#trust/federation/component.ts';
import { trustDistributor } from '#trust/trust-distributor/component.ts';
import { podRefresher } from '#workloads/pod-refresher/component.ts';
import type { ComponentDescriptor, ProcessDescriptor } from '#component/descriptor.ts';
import { certManagerOperator } from './cert-manager-operator/component.ts';
import { operator } from './operator/component.ts';

/**
 * Everything that runs in a pod, in the order of help and documents. A new component is one folder
 * and one line here.
 */
const LIST = [
  approver,
  signer,
  pcrIssuer,
  certificateRequest,
  externalSigner,
  attester,
  authority,
  acme,
  acmeResponder,
  acmeSolver,
  operator,
  certManagerOperator,
  podRefresher,
  ledger,
  trustDistributor,
  bundleEndpoint,
  federation,
  notifier,
] as const;

const INSTALLED = LIST.filter((each) => 'permissions' in each);

/** Subcommand of a component in an installation. */
export type ComponentName = (typeof INSTALLED)[number]['name'];

/**
 * Components of an installation by name, in the order of the list. It excludes the operators, which
 * install them.
 */
export const COMPONENTS: ReadonlyMap<ComponentName, ComponentDescriptor<ComponentName>> = new Map(
  INSTALLED.map((each) => [each.name, each]),
);

/** Reports whether a component of an installation has this name. */
export function isComponentName(name: string): name is ComponentName {
  const names: Iterable<string> = COMPONENTS.keys();
  return [...names].includes(name);
}

/** Everything that the command line can run in a pod. */
export const PROCESSES: readonly ProcessDescriptor<(typeof LIST)[number]['name']>[] = LIST;
