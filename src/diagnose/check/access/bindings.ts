// SPDX-License-Identifier: Apache-2.0
/** The check of bindings and their subjects: an unbound role grants nothing. Pure. */
import type { Condition } from '#api/request/conditions.ts';
import { COMPONENTS, isComponentName } from '#install/component-list.ts';
import { permissionNamesOf } from '#install/names.ts';
import type { Binding, InstallationFacts } from '../facts.ts';
import { allWell, causeOf, error, whereSeen, type Outcome } from '../finding.ts';
import { putBack, restartCommand } from '../installer.ts';

const CHECK = 'roles-bound';

/** A binding that a component requires. */
interface NeededBinding {
  readonly component: string;
  /** Absent for a ClusterRoleBinding. */
  readonly namespace: string | undefined;
}

/** `roles-bound` */
export function checkBindings(facts: InstallationFacts): readonly Outcome[] {
  const remediation = putBack(facts.installer);
  return whereSeen(facts.bindings, () =>
    allWell(
      [
        ...missingAccounts(facts).map((each) => withoutAccount(each, facts)),
        ...missingBindings(facts).map((each) =>
          error(
            `it does not exist, or binds the role to another account: ${each.component} has none of the rights of its role`,
            remediation,
            subjectOf(each),
          ),
        ),
      ],
      'every role of a component is bound to its ServiceAccount',
    ),
  );
}

/** Returns the components with a Deployment but no ServiceAccount. */
function missingAccounts({ accounts, deployments }: InstallationFacts): readonly string[] {
  if (!('value' in accounts) || !('value' in deployments)) return [];
  const { value } = accounts;
  return deployments.value
    .map(({ component }) => component)
    .filter((each) => isComponentName(each) && !value.includes(`countersign-${each}`));
}

function withoutAccount(component: string, { installer, namespace }: InstallationFacts): Outcome {
  const why = `it does not exist: no pod of ${component} can be made, and the API server rejects the tokens of those that run`;
  const restart = restartCommand(`countersign-${component}`, namespace);
  return error(why, putBack(installer, restart), accountOf(component));
}

function accountOf(component: string): string {
  return `serviceaccount/countersign-${component}`;
}

/**
 * Returns the cause of a component's missing permissions: its ServiceAccount does not exist, or its
 * role is not bound. Undefined otherwise.
 */
export function unboundCause(facts: InstallationFacts, component: string): string | undefined {
  if (missingAccounts(facts).includes(component)) return causeOf(CHECK, accountOf(component));
  const found = missingBindings(facts).find((each) => each.component === component);
  return found === undefined ? undefined : causeOf(CHECK, subjectOf(found));
}

/** Matches the component that `authority` writes before each fault of a condition. */
const REPORTER = /(?:^|; )(?<component>[a-z-]+)(?: \(\d+ of \d+ replicas\))?: /g;

/** Returns the cause of a signer's condition if unbound components report all of its faults. */
export function unboundCauseOf(
  facts: InstallationFacts,
  { message = '' }: Condition,
): string | undefined {
  const reporters = [...message.matchAll(REPORTER)].map(
    ({ groups }) => groups?.['component'] ?? '',
  );
  const causes = reporters.map((each) => unboundCause(facts, each));
  return causes.includes(undefined) ? undefined : causes[0];
}

function subjectOf({ component, namespace }: NeededBinding): string {
  const name = `countersign-${component}`;
  return namespace === undefined
    ? `clusterrolebinding/${name}`
    : `rolebinding/${name} in namespace ${namespace}`;
}

function missingBindings(facts: InstallationFacts): readonly NeededBinding[] {
  const { bindings, namespace } = facts;
  if (!('value' in bindings)) return [];
  return neededBindings(facts).filter(
    (needed) => !bindings.value.some((each) => isBoundBy(needed, each, namespace)),
  );
}

function isBoundBy(
  { component, namespace: where }: NeededBinding,
  { namespace, role, accounts }: Binding,
  home: string,
): boolean {
  const name = `countersign-${component}`;
  return (
    namespace === where &&
    role.name === name &&
    role.kind === (where === undefined ? 'ClusterRole' : 'Role') &&
    accounts.includes(`${home}/${name}`)
  );
}

/**
 * Returns the bindings of each component whose roles exist: one for the cluster, and one for each
 * namespace in a rule.
 */
function neededBindings({ roles, signers }: InstallationFacts): readonly NeededBinding[] {
  if (!('value' in roles) || !('value' in signers)) return [];
  const { installation } = signers.value;
  return [...COMPONENTS].flatMap(([component, description]) => {
    const granted = roles.value.get(component);
    if (granted === undefined) return [];
    const live = new Set(granted.map(({ namespace }) => namespace));
    const rules = description.permissions(permissionNamesOf(description, installation));
    const wanted = new Set(rules.map(({ namespace }) => namespace));
    // roles-complete reports a missing role.
    return [...wanted]
      .filter((namespace) => live.has(namespace))
      .map((namespace) => ({ component, namespace }));
  });
}
