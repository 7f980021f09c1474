"""Words that mean the same, the opposite, or one of several things of a kind: by hand, for questions to a help desk.

They stand in their plain form; ``reading`` folds inflections. What is not here is still compared: as a number, as a
name, or by its place among the words that both texts have.
"""

from __future__ import annotations


def _groups(block: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group.split()) for group in block.split(","))


# The first word stands for its group.
SYNONYMS = _groups(
    """delete remove erase purge clear trash discard, create add make build establish generate produce construct
    devise, change modify edit update alter adjust amend, enable activate turn_on switch_on, disable deactivate
    turn_off switch_off, log_in login sign_in signin logon log_on sign_on signon, log_out logout sign_out signout
    logoff log_off, sign_up signup register enrol enroll, set_up setup configure config configuration configuring,
    start launch boot begin commence start_up startup, stop halt end terminate quit shut_down shutdown, fix solve
    resolve repair troubleshoot mend rectify, error failure fault exception problem issue trouble, crash hang
    freeze, get retrieve obtain fetch acquire receive, find locate discover search, show display view, choose select
    pick, permit grant, allow authorize authorise, buy purchase order, cost price fee charge, fast quick rapid swift
    speedy, slow sluggish, picture image photo, email mail e-mail, phone telephone, application app program,
    administrator admin, repository repo, documentation docs doc document, parameter param argument, directory dir
    folder, environment env, database db, javascript js, typescript ts, python py, kubernetes k8s, postgresql
    postgres, authentication auth, information info, specification spec, maximum max, minimum min, vulnerability
    weakness, affected impacted vulnerable, permission privilege right access, function functionality feature
    capability, tool utility platform, customer client, user member, website site webpage, rename relabel, duplicate
    copy clone, transfer move migrate relocate, combine merge join, split divide separate, send transmit, assist
    support, supported compatible, occur arise, avoid prevent, option choice, deprecated discontinued, number amount
    count quantity, compute calculate, size dimension, specify determine define designate indicate, run execute,
    remain stay, convert transform turn, offer supply furnish, collect gather, organize arrange structure, improve
    enhance, accelerate speed_up speed, merge integrate, reload refresh, iterate loop cycle, group batch, unique
    distinct distinctive, important essential vital crucial, objective aim goal, various multiple, beneficial useful
    advantageous helpful, decrease reduce lessen diminish, increase raise grow, call invoke, explore investigate,
    happen occur, inspect examine analyze review, large big huge great, bug defect, link url, job task, latest
    newest, old older previous prior earlier former, quick fast, cancel abort, lock locked, verify check confirm
    validate, store save keep, replace substitute, limit restriction quota, password passcode passphrase"""
)

OPPOSITES = _groups(
    """enable disable, create delete, import export, upload download, install uninstall, start stop, open close,
    increase decrease, allow deny, allow block, permit deny, allow forbid, accept reject, accept decline, approve
    reject, public private, before after, maximum minimum, maximal minimal, first last, old new, oldest newest, old
    latest, earliest latest, log_in log_out, subscribe unsubscribe, show hide, visible hidden, lock unlock, encrypt
    decrypt, encode decode, compress decompress, connect disconnect, attach detach, mount unmount, include exclude,
    inclusion exclusion, read write, send get, push pull, upgrade downgrade, backup restore, archive restore,
    archive unarchive, online offline, high low, higher lower, above below, left right, top bottom, front back,
    internal external, inbound outbound, incoming outgoing, input output, client server, source target, source
    destination, sender recipient, parent child, local remote, local global, manual automatic, manually
    automatically, synchronous asynchronous, static dynamic, success error, succeed fail, true false, yes no, always
    never, ascending descending, horizontal vertical, row column, mobile desktop, light dark, buy sell, lend borrow,
    win lose, publish unpublish, pause resume, expand collapse, zoom_in zoom_out, fast slow, big small, long short,
    more less, most least, best worst, better worse, safe unsafe, valid invalid, same different, strong weak, inside
    outside, upper lower, next previous, forward backward, primary secondary, master slave, master replica, active
    passive, active inactive, permanent temporary, optional mandatory, optional required, increase lower, merge
    split, combine split, grant revoke, assign unassign, follow unfollow, check uncheck, pin unpin, mute unmute, ban
    unban, bind unbind, load unload, register deregister, serialize deserialize, wrap unwrap, link unlink, undo
    redo, debit credit, advantage disadvantage, pro con, single multiple, login logout, producer consumer, publisher
    subscriber, buyer seller, majority minority, sync async, eager lazy, forget remember"""
)

# Things of one kind of which a question means one: naming another, or naming one where the other text names none,
# asks something else.
EXCLUSIVE = _groups(
    """windows linux macos mac macbook osx unix ubuntu debian redhat rhel centos fedora aix solaris android ios iphone
    ipad, chrome firefox safari opera brave, pro premium enterprise, cloud on-premise onpremise self-hosted
    selfhosted, 32bit 64bit x86 arm64, csv json xml yaml pdf xls xlsx excel html markdown docx parquet, mysql
    postgresql oracle sqlite mariadb mongodb db2 sqlserver redis, aws azure gcp, python java javascript typescript
    ruby php golang perl kotlin, http https ftp sftp ssh smtp imap pop3 ldap, staging production sandbox, admin
    owner guest, monday tuesday wednesday thursday friday saturday sunday, english german french spanish italian
    dutch portuguese japanese chinese russian polish, euro dollar pound yen usd eur gbp"""
)

# The same, but only where both texts name one: "weekly" against "monthly".
CONTRASTING = _groups(
    """second minute hour day week month quarter year, secondly minutely hourly daily weekly monthly quarterly yearly
    annually, red green blue yellow orange purple black white grey gray pink brown, north south east west, small
    medium large, header footer sidebar, today tomorrow yesterday, morning evening night, spring summer autumn
    winter, kilobyte megabyte gigabyte terabyte byte, email sms phone chat letter, free pro premium enterprise basic
    standard plus professional business community starter trial lite ultimate, admin owner editor viewer guest"""
)
