// SPDX-License-Identifier: Apache-2.0
/** Every check of `countersign check`: its page in docs/checks is made of this. Ids are API. */
import { ACME_CHECKS } from './catalogue/acme.ts';
import { CHECK_GROUPS, type CheckDescription } from './catalogue/description.ts';
import { INSTALLATION_CHECKS } from './catalogue/installation.ts';
import { KUBERNETES_CHECKS } from './catalogue/kubernetes.ts';
import { SIGNER_CHECKS } from './catalogue/signers.ts';

const CHECKS = {
  ...KUBERNETES_CHECKS,
  ...INSTALLATION_CHECKS,
  ...SIGNER_CHECKS,
  ...ACME_CHECKS,
} as const;

/** The stable id of a check. */
export type CheckId = keyof typeof CHECKS;

/** All checks by id, in the order in which they are printed. */
export const CATALOGUE: ReadonlyMap<CheckId, CheckDescription> = new Map(
  Object.entries(CHECKS) as [CheckId, CheckDescription][],
);

/** @returns the description of a check */
export function descriptionOf(id: CheckId): CheckDescription {
  return CHECKS[id];
}

/** The page of a check, relative to the repository. */
export function pageOf(id: CheckId): string {
  return `docs/checks/${id}.md`;
}

/** The page of a check as Markdown: docs/checks has it, and `countersign check --explain ID` prints it. */
export function renderPage(id: CheckId): string {
  const { group, title, affects, todo } = CHECKS[id];
  return [
    `# ${id}`,
    '',
    `Group ${group}. It holds when ${title}.`,
    '',
    '## What it affects',
    '',
    affects,
    '',
    '## What to do',
    ...todo.flatMap((each) =>
      each.startsWith('$ ') ? ['', '```sh', each.slice(2), '```'] : ['', each],
    ),
    '',
  ].join('\n');
}

/** docs/checks/README.md: every check with its page. */
export function renderIndex(): string {
  const groups = CHECK_GROUPS.flatMap((group) => {
    const members = [...CATALOGUE].filter(([, each]) => each.group === group);
    const rows = members.map(([id, { title }]) => `- [${id}](${id}.md): ${title}`);
    return [`## ${group}`, '', ...rows, ''];
  });
  return [
    '# What countersign check looks at',
    '',
    'Each line of `countersign check` begins with the id of a check. `countersign check --explain ID` prints its page',
    'without a network. Ids are stable.',
    '',
    ...groups,
  ].join('\n');
}
