// SPDX-License-Identifier: Apache-2.0
/** Policies for the CAs that sign managed CAs. */
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import { VAULT_ENGINES } from '#api/signer/upstream-vault.ts';
import type { Manifest } from '../roles.ts';
import { only } from './held/only.ts';
import { sameBut, sameMetadataBut } from './held/unchanged.ts';
import { policy } from './policies.ts';

/**
 * Returns the policy that requires the writer of a ClusterSigner with `upstream.certManager` to
 * hold `create` on CertificateRequests of that namespace. `authority` creates one in its place, so
 * a writer could otherwise use an issuer that was listed for another signer.
 *
 * @returns a policy and its binding
 */
export function signerUpstreamsPolicy(): readonly Manifest[] {
  const { group, plural } = CERTIFICATE_REQUEST_RESOURCE;
  const upstreamOf = (object: string): string =>
    `${object}.spec.authority.?managed.?upstream.?certManager`;
  const upstream = 'object.spec.authority.managed.upstream.certManager';
  return policy({
    name: 'countersign-cluster-signer-upstreams',
    rule: {
      apiGroups: ['countersign.dev'],
      apiVersions: ['v1alpha1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['clustersigners'],
    },
    conditions: [
      { name: 'has-an-upstream', expression: `${upstreamOf('object')}.hasValue()` },
      {
        name: 'another-upstream',
        expression: [
          `oldObject == null || !${upstreamOf('oldObject')}.hasValue()`,
          `|| ${upstreamOf('oldObject')}.value().namespace != ${upstream}.namespace`,
          `|| ${upstreamOf('oldObject')}.value().issuerRef != ${upstream}.issuerRef`,
        ].join('\n'),
      },
    ],
    validations: [
      {
        expression: [
          `authorizer.group('${group}').resource('${plural}').namespace(${upstream}.namespace)`,
          ".check('create').allowed()",
        ].join('\n'),
        messageExpression: [
          `request.userInfo.username + ' may not create CertificateRequests in namespace ' + ${upstream}.namespace`,
          "+ ', so its ClusterSigner may not use an issuer there; ask an administrator to grant it'",
          `+ ' the verb create on ${plural}.${group} in this namespace'`,
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that requires the writer of a ClusterSigner with `upstream.vault` to hold the
 * verb `use` on that secrets engine. `authority` logs in to Vault in its place, so a writer could
 * otherwise use an engine that was opened for another signer.
 *
 * @returns a policy and its binding
 */
export function signerVaultsPolicy(): readonly Manifest[] {
  const { group, plural, verb } = VAULT_ENGINES;
  const upstreamOf = (object: string): string =>
    `${object}.spec.authority.?managed.?upstream.?vault`;
  const vault = 'object.spec.authority.managed.upstream.vault';
  const before = `${upstreamOf('oldObject')}.value()`;
  const namespace = `(has(${vault}.namespace) ? ${vault}.namespace + '/' : '')`;
  const named = `${vault}.server + '/' + ${namespace} + ${vault}.mount`;
  return policy({
    name: 'countersign-cluster-signer-vaults',
    rule: {
      apiGroups: ['countersign.dev'],
      apiVersions: ['v1alpha1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['clustersigners'],
    },
    conditions: [
      { name: 'has-a-vault', expression: `${upstreamOf('object')}.hasValue()` },
      {
        name: 'another-vault',
        expression: [
          `oldObject == null || !${upstreamOf('oldObject')}.hasValue()`,
          ...['server', 'namespace', 'mount', 'issuer', 'auth', 'caBundle'].map(
            (field) => `|| ${before}.?${field} != ${vault}.?${field}`,
          ),
        ].join('\n'),
      },
    ],
    validations: [
      {
        expression: [
          `authorizer.group('${group}').resource('${plural}').name(${named})`,
          `.check('${verb}').allowed()`,
        ].join('\n'),
        messageExpression: [
          `request.userInfo.username + ' may not use the secrets engine ' + ${named}`,
          `+ '; ask an administrator to grant the verb ${verb} on ${plural}.${group} for this name'`,
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that lets `authority` request only CA certificates, of the issuers that the
 * installation lists. A role cannot name an issuer.
 *
 * @param namespace - namespace of the components
 * @param issuers - `<namespace>/<Kind>.<group>/<name>`
 * @returns a policy and its binding
 */
export function upstreamRequestsPolicy(
  namespace: string,
  issuers: readonly string[],
): readonly Manifest[] {
  const { group, version, plural } = CERTIFICATE_REQUEST_RESOURCE;
  const list = issuers.map((each) => `'${each}'`).join(', ');
  const ref = (field: string): string => `object.spec.issuerRef.?${field}.orValue('')`;
  const user = "request.userInfo.username + ' may ";
  const object = "CertificateRequest ' + request.namespace + '/' + object.metadata.name";
  return policy({
    name: 'countersign-authority-certificate-requests',
    rule: {
      apiGroups: [group],
      apiVersions: [version],
      operations: ['CREATE', 'UPDATE'],
      resources: [plural],
    },
    conditions: [only(namespace, 'authority')],
    validations: [
      {
        expression: `request.namespace + '/' + ${ref('kind')} + '.' + ${ref('group')} + '/' + ${ref('name')} in [${list}]`,
        messageExpression: [
          `${user}not create ${object}`,
          "+ ': its issuer is not listed in this installation; countersign rbac --upstream-issuer prints the policy for more'",
        ].join('\n'),
      },
      {
        expression: [
          'object.spec.?isCA.orValue(false)',
          "&& object.spec.?usages.orValue([]) == ['cert sign', 'crl sign']",
        ].join('\n'),
        messageExpression: `${user}request only certificates of CAs, and not by ${object}`,
      },
      {
        expression: [
          sameMetadataBut('labels', 'annotations'),
          `&& ${sameBut('metadata.labels', ['app.kubernetes.io/managed-by'])}`,
          `&& ${sameBut('metadata.annotations', "k.startsWith('countersign.dev/')")}`,
        ].join('\n'),
        messageExpression: `${user}set only its own labels and annotations of ${object}`,
      },
    ],
  });
}
