// What the signals of schemas, phrases and company weigh for Read, Write, Execute, Destructive, Financial: learnt, not
// written. `npm run eval -- catalogue --data FILE --write` makes this file.

export const WEIGHTS_OF_THE_REST = `
accepts a price                     -0.02   0.00   0.00   0.00   3.03
acts on a screen                    -0.46   0.59   3.06  -0.10  -0.09
acts:Destructive                    -0.31  -0.14  -0.13   2.06   0.02
acts:Execute                         0.03   0.01   1.43   0.02   0.00
acts:Financial                      -0.02   0.00   0.00   0.00   3.03
acts:Read                            1.49   0.00   0.02   0.00   0.00
acts:Write                          -0.37   1.38  -0.03   0.35   0.16
alone:Destructive                   -0.01  -0.01   0.11   1.42   0.00
alone:Execute                       -0.04   0.30   1.30  -0.04  -0.02
alone:Financial                      0.00   0.00   0.00   0.00   1.51
alone:Read                           1.27   0.23   0.01   0.05  -0.06
alone:Write                          0.12   0.87   0.33   0.12   0.05
answers with an address              2.93   0.00   0.00   0.08   0.00
applies it for real                 -0.01   0.02   4.02  -0.02   0.00
arg.deep:money                      -0.03   0.02  -0.03  -0.01   0.05
arg:cost                            -0.01  -0.01  -0.01  -0.01   0.04
arg:empties                         -0.02  -0.02  -0.01   0.04   0.00
arg:file                            -0.23   0.16   0.12   0.06  -0.11
arg:method                          -0.12  -0.16   0.21  -0.01   0.08
arg:money                           -0.19  -0.20  -0.15  -0.10   1.14
arg:paging                           0.63  -0.33  -0.24   0.17  -0.23
arg:payload                         -0.58   0.62  -0.03   0.05  -0.06
arg:program                         -0.04  -0.09   1.01   0.13   0.00
arg:query                            0.17  -0.08   0.09  -0.09  -0.10
arg:rehearsal                       -0.11  -0.03   0.19  -0.04  -0.01
arg:saves                           -0.28   0.23   0.12  -0.03  -0.03
arg:screen                           0.02  -0.03   0.16  -0.07  -0.08
arg:sql                             -0.02  -0.01   1.04   0.00   0.00
arg:worst                           -0.19   0.06  -0.10   0.27  -0.04
args:none                            0.39   0.00  -0.20  -0.05  -0.14
args:only an id                     -0.38   0.02  -0.03   0.37   0.02
bias                                 0.59   0.38  -0.04  -0.46  -0.46
buys what is sold                   -0.01  -0.01  -0.01   0.00   4.03
call:name                           -0.01  -0.01   0.03   0.00   0.00
changes a price                      0.00  -0.03   0.00   0.00   2.53
changes an order                     0.00   0.00   0.00   0.00   3.51
choice:Destructive                  -0.16  -0.38  -0.08   2.63  -0.02
choice:Execute                      -0.18  -0.11   2.31  -0.04   0.02
choice:Financial                     0.00   0.00   0.00   0.00   2.00
choice:Read                          2.03  -0.02  -0.01   0.00   0.00
choice:Write                        -0.22   2.00  -0.07   0.31  -0.01
costs money                         -0.07  -0.07  -0.04  -0.03   4.21
deal with money:name.near            0.04   0.02  -0.02  -0.01   0.47
deal with money:name.object          0.04  -0.13  -0.10   0.04   2.15
deal with money:text.near            0.13   0.06  -0.03  -0.07   0.41
deal with money:text.object         -0.02  -0.09  -0.07   0.04   1.64
drives a device                      0.10  -0.03   3.37  -0.02   0.07
drives a machine                    -0.01   0.09   2.97  -0.01  -0.04
drives an agent                      0.03   0.07   3.44  -0.03  -0.02
drops data                          -0.02   0.06  -0.01   3.98  -0.01
empties first                       -0.01  -0.01   0.00   4.52   0.00
generates the answer                 2.86   0.16  -0.01  -0.01  -0.01
keeps books                          0.11   2.89  -0.04  -0.03   0.07
keeps it nowhere                     0.92   0.05  -0.22   0.13   0.12
keeps it somewhere                  -0.21   1.22   0.01  -0.02  -0.01
keeps time                           0.00   4.00   0.00   0.00   0.00
locks a document                     0.00   4.00   0.00   0.00   0.00
loses what was there                -0.12   0.10   0.09   1.95  -0.03
makes a secret void                 -0.02   0.03  -0.01   3.54  -0.04
may be undone                       -0.06   3.01   0.07   0.01  -0.03
merges records                       0.00   0.00   0.00   4.01   0.00
mode:Destructive                    -0.02  -0.18  -0.02   1.22   0.00
mode:Execute                        -0.01  -0.02   1.04   0.00   0.00
mode:Financial                       0.01   0.00   0.00   0.00   1.00
mode:Read                            0.98   0.02   0.00   0.00   0.00
mode:Write                          -0.01   0.83   0.05   0.14  -0.01
money that does not move            -0.01   4.09  -0.04   0.02  -0.06
opens to read                        4.01   0.00   0.00   0.00   0.00
pictures a screen                    2.79   0.29  -0.08   0.00   0.00
places a call                       -0.01  -0.01   5.03   0.00   0.00
places an order                     -0.01  -0.01  -0.03   0.00   3.54
pushes a button                      0.00   0.00   4.00   0.00   0.00
pushes by force                      0.00  -0.01   0.00   4.51   0.00
renews a token                      -0.01   3.05  -0.03  -0.01   0.00
replaces the whole                  -0.02   0.42  -0.04   4.64  -0.01
restores over what is there          0.03   0.06   0.00   3.41   0.00
runs a campaign                      0.00   0.00   0.03   0.00   2.98
runs a question                      3.34   0.00   0.14   0.02  -0.01
runs any query                       0.10   0.00   3.91   0.00   0.00
runs what only reads                 4.01   0.00   0.00   0.00   0.00
saves what it reads                  0.23   5.78   0.00   0.00   0.00
says:access is lost                 -0.17  -0.07  -0.01   1.02  -0.07
says:can be undone                  -0.06   0.01   0.07   0.01  -0.03
says:changes data                    0.02  -0.03   0.03   0.00  -0.02
says:costs                          -0.15   0.02  -0.03  -0.08   0.25
says:from the trash                  0.00   2.50   0.00   0.00   0.00
says:gone for good                  -0.13   0.02   0.08   1.57  -0.04
says:money moves                     0.00   0.00   0.00   0.00   3.01
says:moves no money                  0.04   0.08  -0.09  -0.05   0.02
says:only reads                      1.16  -0.03  -0.05  -0.07  -0.02
says:overwrites                     -0.01   0.16  -0.05  -0.10  -0.01
says:replaces the whole             -0.02   0.40  -0.02  -0.36  -0.01
says:restores over                  -0.01   0.05   0.00   1.96   0.00
says:runs anything                  -0.14  -0.04   1.24  -0.06  -0.01
says:runs now                       -0.06  -0.27   0.48  -0.11  -0.04
says:saves it                        0.22   0.42   0.06   0.00   0.00
says:sets it going                  -0.03  -0.01  -0.04  -0.01   0.09
says:signs in by hand               -0.03  -0.05   0.05   0.04  -0.01
says:to the trash                    0.00   2.44   0.00   0.06   0.00
sends any command                    0.00   0.00   4.00   0.00   0.00
server:device                        0.26  -0.16   0.84   0.04   0.02
server:money                        -0.06  -0.28  -0.13   0.01   0.46
sets it going                       -0.03  -0.01   2.96  -0.01   0.09
sets what is asked for              -0.03   0.18  -0.02  -0.01   3.37
settles a dispute                    0.00   0.00   0.00   0.00   3.51
settles a matter                    -0.01   4.02   0.00   0.00   0.00
signs in by hand                    -0.03   0.00   3.05  -0.01  -0.01
spends on ads                       -0.04   0.02   0.09  -0.01   2.44
starts by making                     0.01  -0.02   2.97  -0.01   0.04
stops a job                         -0.07  -0.10   3.21  -0.03  -0.01
submits a job                       -0.01  -0.04   3.06   0.00   0.00
takes a tie away                     0.05   4.30   0.03   0.13  -0.01
takes access away                   -0.10  -0.09  -0.08   1.32  -0.05
takes messages in                    3.00   0.00   0.00   0.00   0.00
triggers something                  -0.04   0.11   3.95  -0.01  -0.01
verifies whose it is                -0.01   3.01   0.00   0.00   0.00
works the answer out                 4.01   0.00   0.00   0.00   0.00
`
