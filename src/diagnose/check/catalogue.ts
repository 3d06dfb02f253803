// SPDX-License-Identifier: Apache-2.0
/**
 * Every check of `countersign check`. The pages in docs/checks are generated from it. Ids are API.
 */
import { ACME_CHECKS } from './catalogue/acme.ts';
import { EXTERNAL_CHECKS } from './catalogue/external.ts';
import { CHECK_GROUPS, type CheckDescription } from './catalogue/description.ts';
import { INSTALLATION_CHECKS } from './catalogue/installation.ts';
import { KUBERNETES_CHECKS } from './catalogue/kubernetes.ts';
import { SIGNER_CHECKS } from './catalogue/signers.ts';
import { keysOf } from '#base/object-keys.ts';

const CHECKS = {
  ...KUBERNETES_CHECKS,
  ...INSTALLATION_CHECKS,
  ...SIGNER_CHECKS,
  ...ACME_CHECKS,
  ...EXTERNAL_CHECKS,
} as const;

/** The stable id of a check. */
export type CheckId = keyof typeof CHECKS;

/** All checks by id, in printing order. */
export const CATALOGUE: ReadonlyMap<CheckId, CheckDescription> = new Map(
  keysOf(CHECKS).map((id): [CheckId, CheckDescription] => [id, CHECKS[id]]),
);

/** @returns the description of a check */
export function descriptionOf(id: CheckId): CheckDescription {
  return CHECKS[id];
}

/** Returns the path of a check's page, relative to the repository. */
export function pageOf(id: CheckId): string {
  return `docs/checks/${id}.md`;
}

/**
 * Returns the page of a check as Markdown, for docs/checks and `countersign check --explain ID`.
 */
export function renderPage(id: CheckId): string {
  const { group, title, impact, remediation } = CHECKS[id];
  return [
    `# ${id}`,
    '',
    `Group ${group}. It holds when ${title}.`,
    '',
    '## What it affects',
    '',
    impact,
    '',
    '## What to do',
    ...remediation.flatMap((each) =>
      each.startsWith('$ ') ? ['', '```sh', each.slice(2), '```'] : ['', each],
    ),
    '',
  ].join('\n');
}

/** Returns docs/checks/README.md, which lists every check with its page. */
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
