// SPDX-License-Identifier: Apache-2.0
/** CEL that checks a verb on a signer name as Kubernetes does, for ValidatingAdmissionPolicies. */
import { TENANT_DOMAINS, reachesTenants } from '#base/authorizing-names.ts';

/** Authorizer of the requesting user. */
const USER = 'authorizer';

/**
 * Returns a CEL expression for {@link authorizingNames}: the exact name, then all signers of the
 * domain.
 *
 * It has two checks of 350,000 each, and an expression may cost 1,000,000. Each verb therefore
 * needs its own validation, and the expression has room for no third check.
 *
 * @param verb - on `signers.certificates.k8s.io`
 * @param name - CEL of the signer name
 * @param authorizer - CEL of the user's authorizer
 */
export function authorizedOnSignerCel(verb: string, name: string, authorizer = USER): string {
  const check = (signer: string): string =>
    `${authorizer}.group('certificates.k8s.io').resource('signers')\n.name(${signer}).check('${verb}').allowed()`;
  const every = check(`${name}.split('/')[0] + '/*'`);
  if (reachesTenants(verb)) return `${check(name)}\n|| ${every}`;
  const tenants = TENANT_DOMAINS.map((domain) => `'${domain}'`).join(', ');
  return `${check(name)}\n|| (!(${name}.split('/')[0] in [${tenants}])\n&& ${every})`;
}
