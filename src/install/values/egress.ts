// SPDX-License-Identifier: Apache-2.0
/** A NetworkPolicyEgressRule of the values, which the API server checks. */
type EgressRule = Readonly<Record<string, unknown>>;

/**
 * Returns the rules with the default protocol in each port that names none. The API server fills it
 * in, and server-side apply treats the list as one value, so a second field manager would conflict.
 * The chart's helper `countersign.egress` returns the same.
 */
export function withProtocols(rules: readonly EgressRule[]): readonly EgressRule[] {
  return rules.map((rule) => {
    const ports: unknown = rule['ports'];
    if (!Array.isArray(ports)) return rule;
    return { ...rule, ports: ports.map(withProtocol) };
  });
}

function withProtocol(port: unknown): unknown {
  if (typeof port !== 'object' || port === null || Array.isArray(port)) return port;
  return { protocol: 'TCP', ...port };
}
