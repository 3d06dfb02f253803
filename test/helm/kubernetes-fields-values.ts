// SPDX-License-Identifier: Apache-2.0
/**
 * Fields of Kubernetes objects that are null. The API server reads null as an absent field
 * (networking/v1): a peer without labels selects all pods, a rule without `to` allows every
 * destination, and one without `ports` every port.
 */

const ONE = { signers: [{ name: 'example.com/a' }] };
const PORTS = [{ port: 443, protocol: 'TCP' }];
const TO = [{ ipBlock: { cidr: '10.0.0.0/8' } }];

const admits = (peer: object): object => ({
  ...ONE,
  networkPolicy: { enabled: true, from: [peer] },
});

const federates = (rule: object): object => ({
  ...ONE,
  components: { federation: { enabled: true } },
  federation: { egress: [rule] },
});

const notifies = (rule: object): object => ({
  ...ONE,
  networkPolicy: { enabled: true },
  components: { notifier: { enabled: true } },
  notifications: { egress: [rule] },
});

export const BAD_KUBERNETES_FIELDS: Readonly<
  Record<string, readonly [values: object, says: RegExp]>
> = {
  'a peer whose selector is null': [
    admits({ namespaceSelector: {}, podSelector: null }),
    /networkPolicy\/from\/0\/podSelector.*got null/,
  ],
  'a peer whose labels are null': [
    admits({ podSelector: { matchLabels: null } }),
    /networkPolicy\/from\/0\/podSelector\/matchLabels.*got null/,
  ],
  'a peer whose label is null': [
    admits({ podSelector: { matchLabels: { app: null } } }),
    /networkPolicy\/from\/0\/podSelector\/matchLabels\/app.*got null/,
  ],
  'a peer with an address that is null': [
    admits({ ipBlock: { cidr: '10.0.0.0/8', except: [null] } }),
    /networkPolicy\/from\/0\/ipBlock\/except\/0.*got null/,
  ],
  'a foreign endpoint at destinations that are null': [
    federates({ to: null, ports: PORTS }),
    /federation\/egress\/0\/to.*got null/,
  ],
  'a foreign endpoint at ports that are null': [
    federates({ to: TO, ports: null }),
    /federation\/egress\/0\/ports.*got null/,
  ],
  'a target at destinations that are null': [
    notifies({ to: null, ports: PORTS }),
    /notifications\/egress\/0\/to.*got null/,
  ],
  'a target at ports that are null': [
    notifies({ to: TO, ports: null }),
    /notifications\/egress\/0\/ports.*got null/,
  ],
  'a constraint whose topology is null': [
    { ...ONE, defaults: { topologySpreadConstraints: [{ topologyKey: null }] } },
    /defaults\/topologySpreadConstraints\/0\/topologyKey.*got null/,
  ],
  'an affinity whose terms are null': [
    { ...ONE, components: { signer: { affinity: { nodeAffinity: null } } } },
    /components\/signer\/affinity\/nodeAffinity.*got null/,
  ],
};
