// How a row is locked.

package dev.hawthorn;

/** How a pessimistic transaction locks a row. */
public enum RowLock {
    /** Others may lock it so, too; nobody writes it. */
    SHARED,
    /** One may; the others share it. */
    UPGRADABLE,
    /** Nobody else may. */
    EXCLUSIVE
}
