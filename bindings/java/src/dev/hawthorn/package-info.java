/**
 * Hawthorn, an embedded, ordered, transactional key-value engine.
 *
 * <p>{@link dev.hawthorn.Database} is where to begin.
 */
package dev.hawthorn;
