// What the signals of schemas, phrases and company weigh for Read, Write, Execute, Destructive, Financial: learnt, not
// written. `npm run eval -- catalogue --data FILE --write` makes this file.

export const WEIGHTS_OF_THE_REST = `
acts on a screen                    -0.48   0.56   3.09  -0.09  -0.08
acts:Destructive                    -0.28   0.04  -0.13   1.88  -0.01
acts:Execute                        -0.03   0.04   1.44   0.04   0.01
acts:Financial                       0.00   0.00   0.00   0.00   3.00
acts:Read                            1.49  -0.01   0.02   0.00   0.00
acts:Write                          -0.52   1.71   0.06   0.26  -0.01
alone:Destructive                   -0.01  -0.01   0.09   1.44   0.00
alone:Execute                        0.00   0.35   1.20  -0.04  -0.02
alone:Financial                      0.00   0.00   0.00   0.00   1.50
alone:Read                           1.41   0.12   0.00   0.00  -0.04
alone:Write                          0.15   0.83   0.30   0.24  -0.01
answers with an address              3.00   0.00   0.00   0.00   0.00
applies it for real                 -0.01   0.04   3.98  -0.01   0.00
arg.deep:money                      -0.05  -0.03  -0.04  -0.01   0.13
arg:cost                            -0.01  -0.01  -0.01  -0.01   0.05
arg:empties                         -0.01  -0.02  -0.01   0.05   0.00
arg:file                            -0.16   0.07   0.11   0.05  -0.08
arg:method                          -0.05  -0.16   0.22   0.00   0.00
arg:money                           -0.08  -0.27  -0.05  -0.05   0.95
arg:paging                           0.39  -0.30  -0.20   0.21  -0.10
arg:payload                         -0.64   0.51  -0.04   0.02   0.14
arg:program                          0.00   0.04   0.85   0.09   0.02
arg:query                            0.11  -0.04   0.05  -0.07  -0.04
arg:rehearsal                       -0.12  -0.10   0.26  -0.02  -0.01
arg:saves                           -0.12   0.05   0.11  -0.02  -0.01
arg:screen                           0.06  -0.09   0.11  -0.02  -0.05
arg:sql                              0.00   0.00   1.01   0.00   0.00
arg:worst                           -0.34   0.30  -0.11   0.16  -0.01
args:none                            0.60  -0.11  -0.17  -0.23  -0.09
args:only an id                     -0.21  -0.14   0.13   0.19   0.02
bias                                 0.53   0.82   0.02  -0.44  -0.93
buys what is sold                    0.00  -0.01   0.00   0.00   4.02
changes a price                      0.00  -0.04   0.00   0.00   2.54
changes an order                    -0.01   0.00   0.00   0.00   3.52
choice:Destructive                  -0.18  -0.43  -0.08   2.71  -0.01
choice:Execute                      -0.10  -0.12   2.23  -0.05   0.04
choice:Financial                     0.00  -0.01   0.00   0.00   2.01
choice:Read                          2.03  -0.02  -0.01   0.00   0.00
choice:Write                        -0.20   1.93  -0.04   0.32  -0.01
costs money                         -0.03  -0.05  -0.08  -0.02   4.17
deal with money:name.near            0.07   0.01  -0.03   0.00   0.46
deal with money:name.object         -0.01  -0.29  -0.09   0.01   2.38
deal with money:text.near            0.05  -0.09  -0.01  -0.03   0.59
deal with money:text.object         -0.01  -0.11  -0.07   0.00   1.70
drives a device                      0.00   0.00   3.50   0.00   0.00
drives a machine                    -0.02   0.12   2.91  -0.01   0.00
drives an agent                     -0.02   0.12   3.44  -0.03  -0.01
drops data                          -0.02  -0.02  -0.01   4.06   0.00
empties first                       -0.01  -0.01  -0.01   4.53   0.00
generates the answer                 2.98   0.04  -0.01  -0.01   0.00
keeps books                          0.21   2.84  -0.03  -0.01  -0.01
keeps it nowhere                     1.09   0.08  -0.10  -0.06  -0.02
keeps it somewhere                  -0.12   1.08   0.06  -0.02  -0.01
keeps time                           0.00   4.00   0.00   0.00   0.00
makes a secret void                 -0.01   0.06  -0.01   3.47   0.00
may be undone                       -0.02   2.85   0.07   0.10   0.00
merges records                       0.00   0.00   0.00   4.00   0.00
mode:Destructive                    -0.01  -0.23  -0.01   1.26   0.00
mode:Execute                         0.00  -0.02   1.03   0.00   0.00
mode:Financial                       0.00   0.00   0.00   0.00   1.00
mode:Read                            0.96   0.04   0.00   0.00   0.00
mode:Write                           0.08   0.84  -0.02   0.11  -0.01
money that does not move             0.00   4.06  -0.05   0.00  -0.01
opens to read                        4.01   0.00   0.00   0.00   0.00
pictures a screen                    2.83   0.25  -0.08   0.00   0.00
places a call                        0.00   0.00   5.00   0.00   0.00
places an order                      0.00   0.00  -0.01   0.00   3.52
pushes a button                      0.00   0.00   4.00   0.00   0.00
pushes by force                      0.00  -0.01   0.00   4.52   0.00
renews a token                      -0.01   3.04  -0.03   0.00   0.00
replaces the whole                  -0.03   0.55  -0.07   4.55  -0.01
restores over what is there          0.03   0.08   0.00   3.39   0.00
runs a campaign                     -0.01  -0.01   0.04   0.00   2.98
runs a question                      3.29  -0.01   0.19   0.04  -0.01
runs any query                      -0.02  -0.01   4.03  -0.01   0.00
runs what only reads                 4.00   0.00   0.00   0.00   0.00
saves what it reads                  0.35   5.65   0.00   0.00   0.00
says:access is lost                 -0.02  -0.03  -0.01   0.77   0.00
says:can be undone                  -0.02  -0.15   0.07   0.10   0.00
says:changes data                    0.01  -0.04   0.04   0.00  -0.01
says:costs                          -0.01  -0.04  -0.07  -0.02   0.13
says:from the trash                  0.00   2.51   0.00   0.00   0.00
says:gone for good                   0.01  -0.14  -0.04   1.66   0.01
says:money moves                     0.00  -0.02   0.00   0.00   3.02
says:moves no money                  0.07   0.12  -0.22  -0.08   0.12
says:only reads                      1.08  -0.01   0.02  -0.08   0.00
says:overwrites                     -0.01   0.08  -0.07   0.00   0.00
says:replaces the whole             -0.03   0.53  -0.04  -0.45  -0.01
says:restores over                  -0.01   0.08   0.00   1.93   0.00
says:runs anything                  -0.02  -0.04   1.09  -0.02   0.00
says:runs now                        0.02  -0.19   0.21  -0.04  -0.01
says:saves it                        0.35   0.30   0.05   0.00   0.00
says:to the trash                    0.00   2.42   0.00   0.09   0.00
server:money                        -0.06  -0.27  -0.23  -0.08   0.64
sets what is asked for              -0.02   0.07  -0.02  -0.01   3.48
settles a dispute                    0.00  -0.01   0.00   0.00   3.52
settles a matter                    -0.01   4.02   0.00   0.00   0.00
spends on ads                       -0.01   0.04  -0.01   0.00   2.49
starts by making                     0.03  -0.02   2.93  -0.01   0.07
stops a job                         -0.05  -0.03   3.11  -0.03  -0.01
takes a tie away                     0.08   4.26  -0.03   0.20   0.00
takes access away                   -0.08  -0.10  -0.05   1.25  -0.02
takes messages in                    3.00   0.00   0.00   0.00   0.00
triggers something                  -0.03   0.16   3.88  -0.01   0.00
verifies whose it is                -0.01   3.01   0.00   0.00   0.00
`
