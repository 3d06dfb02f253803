// SPDX-License-Identifier: Apache-2.0
/** The policies for writers of AcmeClusterSigners. */
import { ACME_GROUP, ACME_VERSION, CREDENTIAL_NAMESPACE } from '#api/acme/names.ts';
import type { Manifest } from '../roles.ts';
import { authorizedOnSignerCel } from '../signer-access.ts';
import { NOT_ENDING, policy } from './policies.ts';

/** Group and versions of a rule for the ACME kinds. */
export const ACME_KINDS = { apiGroups: [ACME_GROUP], apiVersions: [ACME_VERSION] };

/**
 * Returns the policy that requires `sign` and `attest` on the signer name, as for ClusterSigners:
 * the writer decides who gets certificates of this name.
 */
export function acmeClusterSignersPolicy(namespace: string): readonly Manifest[] {
  const name = '(object == null ? oldObject : object).spec.signerName';
  return policy({
    name: 'countersign-acme-cluster-signers',
    rule: {
      ...ACME_KINDS,
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['acmeclustersigners'],
    },
    conditions: [NOT_ENDING],
    validations: [
      ...(['sign', 'attest'] as const).map((verb) => ({
        expression: authorizedOnSignerCel(verb, name),
        messageExpression: [
          `request.userInfo.username + ' may not ${verb} for ' + ${name}`,
          "+ ', so it may not write or delete its AcmeClusterSigner; ask an administrator to grant it the verbs'",
          `+ ' sign and attest on signers.certificates.k8s.io ' + ${name}`,
        ].join('\n'),
      })),
      routeMarksPolicy('ingress', ['networking.k8s.io', 'ingresses'], namespace),
      routeMarksPolicy('gateway', ['gateway.networking.k8s.io', 'httproutes'], namespace),
    ],
  });
}

/**
 * Returns the policy for labels and annotations of routes. They control an Ingress controller, and
 * every other watcher of the components' namespace. A user who may set them must therefore be able
 * to create the route.
 */
function routeMarksPolicy(
  member: 'ingress' | 'gateway',
  [group, resource]: readonly [string, string],
  namespace: string,
): { readonly expression: string; readonly messageExpression: string } {
  const route = `s.http01.${member}`;
  const marked = (object: string): string =>
    `${object}.spec.acme.solvers.filter(s, has(s.http01) && has(${route})\n&& (has(${route}.labels) || has(${route}.annotations))).map(s, ${route})`;
  return {
    expression: [
      `request.operation == 'DELETE' || ${marked('object')}.size() == 0`,
      `|| (oldObject != null && ${marked('object')} == ${marked('oldObject')})`,
      `|| authorizer.group('${group}').resource('${resource}').namespace('${namespace}').check('create').allowed()`,
    ].join('\n'),
    messageExpression: [
      `request.userInfo.username + ' may not create ${resource} in namespace ${namespace}'`,
      "+ ', so it may not choose labels and annotations of them; ask an administrator to grant it the verb create'",
    ].join('\n'),
  };
}

/**
 * Limit of solver credentials that one write may add. The API server bounds the number of
 * authorizer checks in a policy.
 */
const MAX_NEW_CREDENTIALS = 8;

/**
 * Returns the policies for Secrets that an AcmeClusterSigner names. A user who names an account key
 * or an external account orders certificates in that account's name. A user who names a DNS
 * credential can prove every name within its reach, and with another acme-dns server gets the
 * password.
 */
export function accountKeysPolicy(secretNamespace: string): readonly Manifest[] {
  const key = (object: string): string => `${object}.spec.acme.accountKey.secret.name`;
  const external = (object: string): string =>
    `${object}.spec.acme.?externalAccountBinding.?secret.?name.orValue('')`;
  const secretsIn = (namespace: string): string =>
    `authorizer.group('').resource('secrets').namespace('${namespace}')`;
  const mayUse = (secret: string, namespace = secretNamespace): string =>
    `${secretsIn(namespace)}\n.name(${secret}).check('use').allowed()`;
  const isSame = (of: (object: string) => string): string =>
    `(oldObject != null && ${of('oldObject')} == ${of('object')})`;
  const refusal = (secret: string, what: string, namespace = secretNamespace): string =>
    [
      `request.userInfo.username + ' may not use Secret ${namespace}/' + ${secret}`,
      `+ ' for ${what}; ask an administrator to grant it the verb use on this Secret'`,
    ].join('\n');
  const nth = (index: number): string => `${NEW_CREDENTIALS}[${index}].split(' ')[0]`;
  return policy({
    name: 'countersign-acme-account-keys',
    rule: { ...ACME_KINDS, operations: ['CREATE', 'UPDATE'], resources: ['acmeclustersigners'] },
    conditions: [
      {
        name: 'another-secret',
        expression: [
          'oldObject == null',
          `|| ${key('oldObject')} != ${key('object')}`,
          `|| ${external('oldObject')} != ${external('object')}`,
          `|| ${credentialsIn('oldObject')} != ${credentialsIn('object')}`,
        ].join('\n'),
      },
    ],
    validations: [
      {
        expression: `${isSame(key)}\n|| ${mayUse(key('object'))}`,
        messageExpression: refusal(key('object'), 'an account key'),
      },
      {
        expression: `${external('object')} == '' || ${isSame(external)}\n|| ${mayUse(external('object'))}`,
        messageExpression: refusal(external('object'), 'an external account'),
      },
      ...Array.from({ length: MAX_NEW_CREDENTIALS }, (_none, index) => ({
        expression: `${NEW_CREDENTIALS}.size() <= ${index}\n|| ${mayUse(nth(index), CREDENTIAL_NAMESPACE)}`,
        messageExpression: refusal(nth(index), 'a solver', CREDENTIAL_NAMESPACE),
      })),
      {
        expression: `${NEW_CREDENTIALS}.size() <= ${MAX_NEW_CREDENTIALS}\n|| ${secretsIn(CREDENTIAL_NAMESPACE)}.check('use').allowed()`,
        messageExpression: `'more than ${MAX_NEW_CREDENTIALS} solvers with another Secret or server; write ${MAX_NEW_CREDENTIALS} at a time'`,
      },
    ],
  });
}

/**
 * Returns CEL for the credentials of an object's solvers, each with the server that receives it. No
 * server receives a TSIG key.
 */
function credentialsIn(object: string): string {
  const solvers = `${object}.spec.acme.solvers`;
  const ofAcmeDns = `${solvers}.filter(s, has(s.acmeDNS)).map(s, s.acmeDNS.secret.name + ' ' + s.acmeDNS.server)`;
  const ofTsig = `${solvers}.filter(s, has(s.rfc2136) && has(s.rfc2136.tsig)).map(s, s.rfc2136.tsig.secret.name)`;
  return `(${ofAcmeDns}\n+ ${ofTsig})`;
}

const NEW_CREDENTIALS = `${credentialsIn('object')}.filter(c, oldObject == null || !(c in ${credentialsIn('oldObject')}))`;
