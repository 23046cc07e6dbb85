// What all objects with a native handle share.

package dev.hawthorn;

import java.lang.ref.Cleaner;

/**
 * An object that holds something of the engine until it is closed. One that is forgotten is closed
 * some time after it cannot be reached any more. A use after that is an
 * {@link IllegalStateException}.
 */
public abstract class Handle implements AutoCloseable {
    static final Cleaner CLEANER = Cleaner.create();

    final Resource resource;
    private final Cleaner.Cleanable cleanable;

    Handle(Resource resource) {
        this.resource = resource;
        cleanable = CLEANER.register(this, resource);
    }

    long enter() {
        return resource.enter();
    }

    void exit() {
        resource.exit();
    }

    /**
     * Whether it was closed.
     *
     * @return true from the close on
     */
    public boolean isClosed() {
        return resource.isClosed();
    }

    /** Closes it, when calls of other threads have returned; a second time it does nothing. */
    @Override
    public void close() {
        resource.close();
        cleanable.clean();
    }
}
