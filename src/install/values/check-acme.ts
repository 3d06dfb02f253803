// SPDX-License-Identifier: Apache-2.0
/** Checks of the ACME values. The chart has the same: build/chart/_checks-acme.tpl. */
import { usageError } from '#base/errors.ts';
import { OWN_TLS_CA_SECRET } from '#api/signer/own-tls.ts';
import { COMPONENTS } from '../component-list.ts';
import { isProvider, isRouteMetadata } from '../installation.ts';
import { checkNamespace, checkServedName, isObjectName } from './check-names.ts';
import type { InstallationValues } from './schema.ts';

type AcmeValues = InstallationValues['acme'];

/** Reports whether the values have ACME signers to serve. */
export function servesAcme({ acme, components }: InstallationValues): boolean {
  const { enabled = COMPONENTS.get('acme')?.optional?.enabled } = components['acme'] ?? {};
  return enabled === true && acme.signers.length > 0;
}

/**
 * Returns an AcmeClusterSigner with the defaults of its name: `public-account` for
 * `example.com/public`.
 */
export function namedAcmeSigner(
  given: InstallationValues['acme']['signers'][number],
): typeof given & { readonly accountSecret: string } {
  const path = given.name.split('/')[1] ?? '';
  return { ...given, accountSecret: given.accountSecret ?? `${path}-account` };
}

/**
 * Rejects values that would make the roles of the three components unsafe.
 *
 * @param others - the ClusterSigners
 * @param notThere - namespaces that may not have Secrets of teams and solvers
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function checkAcme(
  { acme, namespacedSigners }: InstallationValues,
  others: readonly CaSecret[],
  notThere: readonly string[],
): void {
  for (const [index, signer] of acme.signers.map(namedAcmeSigner).entries()) {
    const at = `acme.signers[${index}]`;
    checkServedName(`${at}.name`, signer.name);
    if (others.some((each) => each.name === signer.name)) {
      throw usageError(`${at}.name: "${signer.name}" is also in signers; leave one of them out`);
    }
    for (const name of [signer.accountSecret, signer.externalAccountSecret ?? 'x'])
      checkAcmeSecret(name, at, others);
  }
  if (acme.secrets.length > 0 && !namespacedSigners.enabled) {
    throw usageError(
      'acme.secrets: they are for AcmeSigners; set namespacedSigners.enabled=true as well',
    );
  }
  const unfit = { namespaces: notThere, ofCas: namespacedSigners.secrets };
  checkPlaces('acme.secrets', acme.secrets, unfit);
  checkPlaces('acme.solverSecrets', acme.solverSecrets, unfit);
  checkCalled(acme);
}

interface CaSecret {
  readonly name: string;
  readonly secret: string;
}

function checkAcmeSecret(name: string, at: string, others: readonly CaSecret[]): void {
  if (!isObjectName(name)) {
    throw usageError(
      `${at}: "${name}" is not a valid name of a Secret; write one such as public-account`,
    );
  }
  if (name === OWN_TLS_CA_SECRET || others.some((each) => each.secret === name)) {
    throw usageError(`${at}: Secret "${name}" is that of a CA; write another name`);
  }
}

/**
 * Rejects namespaces of the components and of the keys, because each namespace here has its own
 * Role and those have theirs. Rejects Secrets of CAs: no component of ACME reads a CA's key.
 */
function checkPlaces(
  list: string,
  secrets: AcmeValues['secrets'],
  unfit: {
    readonly namespaces: readonly string[];
    readonly ofCas: InstallationValues['namespacedSigners']['secrets'];
  },
): void {
  for (const [index, { namespace, name }] of secrets.entries()) {
    const at = `${list}[${index}]`;
    checkNamespace(`${at}.namespace`, namespace);
    if (unfit.namespaces.includes(namespace)) {
      throw usageError(
        `${at}.namespace: "${namespace}" is for the components or the keys of CAs; write countersign-dns, or the namespace of the team`,
      );
    }
    if (unfit.ofCas.some((each) => each.namespace === namespace && each.name === name)) {
      throw usageError(`${at}: ${namespace}/${name} is the Secret of a CA; name another`);
    }
    if (!isObjectName(name)) {
      throw usageError(
        `${at}.name: "${name}" is not a valid name of a Secret; write one such as dns-example-com`,
      );
    }
  }
}

const SOLVER = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const ZONE =
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?=[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function checkCalled({ dnsWebhooks, routeMetadata, http01Zones }: AcmeValues): void {
  for (const [index, text] of routeMetadata.entries()) {
    if (isRouteMetadata(text)) continue;
    throw usageError(
      `acme.routeMetadata[${index}]: "${text}" is not a label or annotation of a route; write example.com/key=value, with letters, digits and _.:/=,*+@- in the value`,
    );
  }
  for (const [index, text] of dnsWebhooks.entries()) {
    const { group, solver } = dnsWebhook(text);
    if (isProvider(group) && (solver === undefined || SOLVER.test(solver))) continue;
    throw usageError(
      `acme.dnsWebhooks[${index}]: "${text}" is not the API group of a DNS provider; write the groupName that its documentation names`,
    );
  }
  for (const [index, text] of http01Zones.entries()) {
    if (ZONE.test(text)) continue;
    throw usageError(
      `acme.http01Zones[${index}]: "${text}" is not a namespace and a zone; write team-a=team-a.example.com`,
    );
  }
}

/** Reads `<groupName>` or `<groupName>/<solverName>`. */
export function dnsWebhook(text: string): {
  readonly group: string;
  readonly solver: string | undefined;
} {
  const [group = '', ...solver] = text.split('/');
  return { group, solver: solver.length === 0 ? undefined : solver.join('/') };
}
