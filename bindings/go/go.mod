module hawthorn

go 1.19
